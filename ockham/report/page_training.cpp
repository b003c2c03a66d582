#include <algorithm>
#include <cmath>

#include "ockham/report/page_parts.h"

namespace ockham::report {
namespace {

template <typename Field>
bool any_row(const RunReport& report, Field field) {
  const auto in_trace = [&](const ReportCandidate& candidate) {
    const std::vector<ReportTraceRow>& rows = candidate.trace.rows;
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return std::isfinite(field(row)); });
  };
  return std::any_of(report.candidates.begin(), report.candidates.end(), in_trace);
}

bool any_precision(const RunReport& report) {
  return std::any_of(report.candidates.begin(), report.candidates.end(), [](const ReportCandidate& candidate) {
    return !candidate.trace.groups.empty() && !candidate.trace.rows.empty() &&
           !candidate.trace.rows[0].precisions.empty();
  });
}

bool any_positive(const std::vector<ReportValue>& values) {
  return std::any_of(values.begin(), values.end(), [](const ReportValue& value) { return value.value > 0; });
}

}  // namespace

std::string render_training(const RunReport& report) {
  std::string body;
  if (any_row(report, [](const ReportTraceRow& row) { return row.log_evidence; }))
    body += make_figure(
        {"evidence", "Log evidence over the epochs", "Each network's best state is kept, not its last.", 0, "", true});
  if (any_precision(report))
    body += make_figure({"precisions", "Prior precisions over the epochs",
                         "Learnt with the weights: a large precision holds the weights of its group near zero."});
  if (any_row(report, [](const ReportTraceRow& row) { return row.noise.empty() ? not_given : row.noise[0]; }))
    body += make_figure(
        {"noise", "Noise over the epochs", "The standard deviation σ of the noise, in the target's units."});
  if (any_row(report, [](const ReportTraceRow& row) { return row.temperature; }))
    body += make_figure(
        {"temperature", "Temperature over the epochs", "Of the softmax: above one the probabilities are flatter."});
  if (any_row(report, [](const ReportTraceRow& row) { return row.loss; }))
    body += make_figure({"loss", "Training loss over the epochs", "What the optimiser of the weights sees."});
  if (any_positive(report.prior_precisions))
    body += make_figure({"layers", "Prior precision per layer", "Of the selected network, at its best state."});
  if (any_positive(report.relevances))
    body += make_figure({"relevance", "Relevance of the inputs",
                         "One over the precision of the input's weights: an input that does not matter is near zero."});
  return make_section("training", "Training", body);
}

}  // namespace ockham::report
