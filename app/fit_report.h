// The report of a fit: report.json and report.html in the run directory.
#pragma once

#include <string>

#include "app/fit_summary.h"
#include "ockham/store/run_directory.h"

namespace ockham::app {

/// Predicts what the report's pictures show, and writes both files.
void write_fit_report(const FitSummary& summary, const RunDirectory& run);

/// report.json: what `ockham report` draws again.
std::string report_data_path(const RunDirectory& run);

}  // namespace ockham::app
