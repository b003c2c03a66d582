#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/report/page_parts.h"
#include "ockham/report/text.h"

namespace ockham::report {
namespace {

bool has(const std::vector<ReportValue>& values, const std::string& name) {
  return std::any_of(values.begin(), values.end(), [&](const ReportValue& value) { return value.name == name; });
}

double value_of(const std::vector<ReportValue>& values, const std::string& name) {
  for (const ReportValue& value : values)
    if (value.name == name) return value.value;
  return not_given;
}

/// Names of the test metrics of all candidates, or of the training ones when there are none.
std::vector<ReportValue> metric_columns(const RunReport& report, bool tested) {
  std::vector<ReportValue> columns;
  for (const ReportCandidate& candidate : report.candidates)
    for (const ReportValue& metric : tested ? candidate.test : candidate.train)
      if (!has(columns, metric.name)) columns.push_back(metric);
  return columns;
}

std::string cell(const std::string& text) { return "<td>" + text + "</td>"; }
std::string heading(const std::string& text) { return "<th scope=\"col\">" + escape_html(text) + "</th>"; }

std::string probability_cell(double probability) {
  if (!std::isfinite(probability)) return cell("–");
  return fmt::format("<td class=\"share\"><span class=\"bar\" style=\"width:{:.1f}%\"></span><span>{}</span></td>",
                     100 * std::clamp(probability, 0.0, 1.0), escape_html(format_percent(probability)));
}

std::string evidence_cell(const ReportCandidate& candidate) {
  std::string text = format_fixed(candidate.log_evidence, 2);
  if (candidate.restarts > 1 && std::isfinite(candidate.spread)) text += " ± " + format_fixed(candidate.spread, 2);
  return cell(text);
}

std::string ranking_table(const RunReport& report) {
  const bool tested = !metric_columns(report, true).empty();
  const std::vector<ReportValue> metrics = metric_columns(report, tested);
  const bool estimated = std::any_of(report.candidates.begin(), report.candidates.end(),
                                     [](const ReportCandidate& one) { return std::isfinite(one.half_width); });
  std::string head = heading("") + heading("Network") + heading("Parameters") + heading("Log evidence") +
                     (estimated ? heading("± 95 %, estimate") : "") + heading("Behind the first") +
                     heading("Probability") + heading("Fit") + heading("Occam");
  for (const ReportValue& metric : metrics) head += heading((tested ? "Test " : "Train ") + metric_title(metric.name));
  head += heading("Gradient norm") + heading("Epochs") + heading("Time");

  std::string rows;
  int rank = 0;
  for (const ReportCandidate& candidate : report.candidates) {
    const std::string network = "<th scope=\"row\"><code>" + escape_html(candidate.network) + "</code></th>";
    if (!candidate.failure.empty() || !std::isfinite(candidate.log_evidence)) {
      const std::string reason = candidate.failure.empty() ? "no evidence" : candidate.failure;
      rows += fmt::format("<tr class=\"failed\">{}{}{}<td colspan=\"{}\" class=\"reason\">{}</td></tr>", cell("–"),
                          network, cell(format_count(candidate.parameters)), (estimated ? 9 : 8) + metrics.size(),
                          escape_html(reason));
      continue;
    }
    ++rank;
    const double kept =
        std::isfinite(candidate.log_evidence_best) ? candidate.log_evidence_best : candidate.log_evidence;
    const double occam = kept - candidate.log_likelihood;
    rows += rank == 1 ? "<tr class=\"first\">" : "<tr>";
    rows += cell(std::to_string(rank)) + network + cell(format_count(candidate.parameters)) + evidence_cell(candidate) +
            (estimated ? cell(format_fixed(candidate.half_width, 2)) : "") +
            cell(rank == 1 ? "" : format_fixed(report.candidates[0].log_evidence - candidate.log_evidence, 2)) +
            probability_cell(candidate.probability) + cell(format_fixed(candidate.log_likelihood, 2)) +
            cell(format_fixed(occam, 2));
    for (const ReportValue& metric : metrics)
      rows += cell(
          escape_html(format_metric(metric.name, value_of(tested ? candidate.test : candidate.train, metric.name))));
    rows += cell(format_number(candidate.gradient_norm)) + cell(format_count(candidate.epochs)) +
            cell(escape_html(format_seconds(candidate.seconds))) + "</tr>\n";
  }
  return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Ranking\"><table "
         "class=\"ranking\"><thead><tr>" +
         head + "</tr></thead><tbody>" + rows + "</tbody></table></div>";
}

std::string baseline_text(const ReportBaseline& baseline, const RunReport& report) {
  std::string text =
      "The usual way for comparison: the same network trained once for every prior precision of a grid, chosen on "
      "data held out.";
  if (std::isfinite(baseline.seconds)) {
    text += " It took " + format_seconds(baseline.seconds);
    for (const ReportCandidate& candidate : report.candidates)
      if (candidate.network == baseline.network && std::isfinite(candidate.seconds))
        text += "; training by evidence took " + format_seconds(candidate.seconds);
    text += ".";
  }
  if (!baseline.test.empty()) {
    text += " Test:";
    for (const ReportValue& metric : baseline.test)
      text += " " + metric_title(metric.name) + " " + format_metric(metric.name, metric.value) +
              (&metric == &baseline.test.back() ? "." : ",");
  }
  return text;
}

}  // namespace

std::string render_ranking(const RunReport& report) {
  if (report.candidates.empty()) return "";
  std::string body =
      "<p>The log evidence is the logarithm of the probability (density) of the training data under a network, with "
      "its "
      "weights averaged out. It is the <em>fit</em>, log p(D|θ), plus the <em>Occam</em> term, the price of the "
      "weights "
      "that had to be tuned for it.";
  if (!report.comparability.empty()) body += " Here: " + escape_html(report.comparability) + ".";
  body += "</p>" + ranking_table(report);
  if (count_ranked(report) > 0)
    body += make_figure({"ranking", "Evidence, fit and Occam term",
                         "From the fit on one end to the log evidence on the other: the bar between is the Occam term. "
                         "Further right is better.",
                         0, "", true});
  if (std::isfinite(report.evidence_accuracy_rho))
    body +=
        make_figure({"scatter", "Evidence against test accuracy",
                     fmt::format("Each mark is a candidate, larger with more parameters. Spearman's rank correlation "
                                 "is {}: 1 when the evidence, which saw no test data, puts the candidates into the "
                                 "order of their test accuracy.",
                                 format_fixed(report.evidence_accuracy_rho, 2)),
                     0, "", true});
  for (size_t i = 0; i < report.baselines.size(); ++i)
    if (!report.baselines[i].rows.empty())
      body += make_figure({"baseline", "Cross-validated grid search: " + report.baselines[i].network,
                           baseline_text(report.baselines[i], report), i, "", true});
  return make_section("ranking", "Ranking", body);
}

}  // namespace ockham::report
