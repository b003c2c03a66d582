// Private to data/: which character stands between the fields?
#pragma once

#include <string>

namespace ockham {

/// The separator that cuts the first lines into equally many fields, more than one: tab before ';' before ','
/// before '|'; else
/// blanks (' ') when they cut them so, and most of what they cut out is numbers.
char detect_separator(const std::string& text);

/// Spreadsheets write and read a first line "sep=;". Returns its separator and makes the line blank; 0 without one.
char take_separator_line(std::string& text);

}  // namespace ockham
