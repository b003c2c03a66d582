#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/report/page_parts.h"
#include "ockham/report/text.h"

namespace ockham::report {
namespace {

struct Verdict {
  bool decided = true;
  std::string sentence;  // HTML
};

std::string code(const std::string& text) { return "<code>" + escape_html(text) + "</code>"; }

// Decided is what neither the posterior probability nor another start of the training nor other probes of an estimate
// would turn round.
Verdict judge(const RunReport& report) {
  const size_t ranked = count_ranked(report);
  if (ranked == 0) return {false, "No candidate finished: the table below says why."};
  if (ranked == 1) return {true, "The only candidate with an evidence: there was nothing to compare it with."};
  const ReportCandidate &first = report.candidates[0], &second = report.candidates[1];
  const double gap = first.log_evidence - second.log_evidence;
  const auto spread_of = [](const ReportCandidate& c) { return std::isfinite(c.spread) ? c.spread : 0.0; };
  const double spread = std::max(spread_of(first), spread_of(second));
  if (gap <= spread)
    return {false, fmt::format("Not decided: {} is only {} nats behind, and restarts of the same network differ by {}.",
                               code(second.network), format_fixed(gap, 2), format_fixed(spread, 2))};
  const auto error_of = [](const ReportCandidate& c) { return std::isfinite(c.half_width) ? c.half_width : 0.0; };
  if (const double error = std::hypot(error_of(first), error_of(second)); gap <= error)
    return {false, fmt::format("Not decided: {} is only {} nats behind, and the estimates have error bars of {}.",
                               code(second.network), format_fixed(gap, 2), format_fixed(error, 2))};
  if (!(first.probability >= 0.95))
    return {false, fmt::format("Not decided: {} is only {} nats behind and has a probability of {}.",
                               code(second.network), format_fixed(gap, 2), format_percent(second.probability))};
  const std::string lead = format_fixed(gap, gap < 100 ? 1 : 0);
  if (!std::isfinite(first.spread) || !std::isfinite(second.spread))
    return {true, fmt::format("Ahead by {} nats of the next, {}. Each was trained once, so it is not known how much "
                              "another start would move that (<code>--restarts 3</code> tells).",
                              lead, code(second.network))};
  return {true, fmt::format("Clearly ahead: {} nats more evidence than the next, {}.", lead, code(second.network))};
}

std::string tile(const std::string& name, const std::string& value) {
  return "<div class=\"tile\"><dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd></div>";
}

std::string metric_tiles(const ReportCandidate& selected) {
  const bool tested = !selected.test.empty();
  const std::vector<ReportValue>& metrics = tested ? selected.test : selected.train;
  if (metrics.empty()) return "";
  std::string tiles;
  for (const ReportValue& metric : metrics)
    tiles += tile(metric_title(metric.name), format_metric(metric.name, metric.value));
  return fmt::format("<div class=\"metrics\"><h2>{}</h2><dl class=\"tiles\">{}</dl></div>",
                     tested ? "On the test data" : "On the training data (there are no test data)", tiles);
}

std::string facts_line(const RunReport& report) {
  std::vector<std::string> facts;
  if (!report.task.empty())
    facts.push_back(escape_html(report.task) + (report.targets.empty() ? "" : " of " + code(report.targets)));
  if (report.examples > 0) facts.push_back(format_count(report.examples) + " examples");
  if (report.test_examples > 0) facts.push_back(format_count(report.test_examples) + " test examples");
  if (report.features > 0)
    facts.push_back(format_count(report.features) + (report.features == 1 ? " input" : " inputs"));
  if (std::isfinite(report.seconds)) facts.push_back(escape_html(format_seconds(report.seconds)));
  if (!report.when.empty()) facts.push_back(escape_html(report.when));
  return fmt::format("<p class=\"facts\">{}</p>", fmt::join(facts, " <span aria-hidden=\"true\">·</span> "));
}

std::string probability_tile(const RunReport& report) {
  const double probability = report.candidates[0].probability;
  if (count_ranked(report) < 2 || !std::isfinite(probability)) return "";
  return fmt::format(
      "<div class=\"sure\"><p class=\"label\">Posterior probability among {} candidates</p><p class=\"big\">{}</p>"
      "<div class=\"meter\" aria-hidden=\"true\"><span style=\"width:{:.1f}%\"></span></div></div>",
      count_ranked(report), escape_html(format_percent(probability)), 100 * std::clamp(probability, 0.0, 1.0));
}

std::string verdict_card(const RunReport& report) {
  const Verdict verdict = judge(report);
  const std::string sentence =
      fmt::format("<p class=\"verdict {}\">{}</p>", verdict.decided ? "decided" : "undecided", verdict.sentence);
  if (count_ranked(report) == 0) return "<div class=\"card selected\">" + sentence + "</div>";
  const ReportCandidate& selected = report.candidates[0];
  return fmt::format(
      "<div class=\"card selected\"><div class=\"choice\"><p class=\"label\">Selected by evidence</p>"
      "<p class=\"big\"><code>{}</code></p><p class=\"label\">{} parameters, log evidence {}</p></div>{}{}{}</div>",
      escape_html(selected.network), format_count(selected.parameters), format_fixed(selected.log_evidence, 2),
      probability_tile(report), sentence, metric_tiles(selected));
}

std::string warning_box(const RunReport& report) {
  if (report.warnings.empty()) return "";
  std::string items;
  for (const std::string& warning : report.warnings) items += "<li>" + escape_html(warning) + "</li>";
  return "<div class=\"card warnings\" role=\"note\"><h2>Warnings</h2><ul>" + items + "</ul></div>";
}

}  // namespace

std::string render_summary(const RunReport& report) {
  return "<header class=\"top\"><p class=\"brand\">ockham report</p><h1>" + escape_html(page_title(report)) + "</h1>" +
         facts_line(report) + "</header>\n" + verdict_card(report) + warning_box(report) + "\n";
}

}  // namespace ockham::report
