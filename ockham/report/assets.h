// Private to report: the files of report/assets/, put into the library at build time.
#pragma once

namespace ockham::report {

extern const char* const style_sheet;        // style.css
extern const char* const dark_declarations;  // dark.css: what differs in the dark
extern const char* const script;             // all of *.js, in the order of their names

}  // namespace ockham::report
