// Private to report: the report as JSON text.
#pragma once

#include <string>

#include "ockham/report/run_report.h"

namespace ockham::report {

/// `digits` significant digits of every real number; 0: all that a double needs. Text that is not UTF-8 is mended.
std::string report_json(const RunReport& report, int digits);

}  // namespace ockham::report
