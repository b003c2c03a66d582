// Reports with made-up numbers that look like those of real runs, with names that try to break out of the page.
#pragma once

#include "ockham/report/run_report.h"

namespace ockham::testing {

/// A column name that is HTML, a script's end and Unicode at once.
inline constexpr const char* hostile_name = "</script><script>alert(1)</script>&\"'<!-- größe, 高さ";

RunReport regression_report(int64_t epochs = 2000);  // seven candidates, one failed; ard; a baseline; undecided
RunReport classification_report();                   // five classes, without a test set for the trace of one candidate
RunReport images_report();                           // pictures, and evidence against accuracy
RunReport one_input_report();                        // a predictive band
RunReport two_inputs_report();                       // a map of two classes, decided clearly
RunReport two_inputs_regression_report();            // a map of a mean
RunReport empty_report();                            // no candidate finished

}  // namespace ockham::testing
