// Private to report: the parts of the page, as HTML. Charts are empty <figure data-chart="..."> elements that the
// page's script fills from the embedded data; a chart without data has no figure.
#pragma once

#include <string>

#include "ockham/report/run_report.h"

namespace ockham::report {

/// The top: what was selected, how sure that is, and its numbers on the test data; warnings.
std::string render_summary(const RunReport& report);
/// The table and the chart of the ranking, candidates that failed, the baseline.
std::string render_ranking(const RunReport& report);
/// How the evidence and the hyperparameters went over the epochs, prior precisions and relevances at the end.
std::string render_training(const RunReport& report);
/// Bands and maps, residuals and calibration, reliability and confusion.
std::string render_predictions(const RunReport& report);
/// The images of which the selected network is surest and least sure, and its surest mistakes.
std::string render_images(const RunReport& report);
/// Settings, versions, messages.
std::string render_details(const RunReport& report);

/// The report's own title or one made from the data file's name; not escaped.
std::string page_title(const RunReport& report);
/// Candidates that have an evidence.
size_t count_ranked(const RunReport& report);

/// A section with a heading, or "" when the body is empty. `body` is HTML.
std::string make_section(const std::string& identifier, const std::string& heading, const std::string& body);

struct ChartPlace {
  std::string chart;         // the name that the script knows
  std::string title;         // not escaped
  std::string text;          // what it shows and how to read it, in a sentence or two; not escaped
  size_t index = 0;          // into the list that the chart reads
  std::string variant = "";  // "train", "test" or ""
  bool wide = false;         // over both columns
};
std::string make_figure(const ChartPlace& place);

}  // namespace ockham::report
