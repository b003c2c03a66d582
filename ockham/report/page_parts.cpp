#include "ockham/report/page_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/report/text.h"

namespace ockham::report {

std::string page_title(const RunReport& report) {
  if (!report.title.empty()) return report.title;
  const std::string name = report.data.substr(report.data.find_last_of('/') + 1);
  return name.empty() ? "Model selection by evidence" : name;
}

size_t count_ranked(const RunReport& report) {
  return static_cast<size_t>(
      std::count_if(report.candidates.begin(), report.candidates.end(),
                    [](const ReportCandidate& c) { return c.failure.empty() && std::isfinite(c.log_evidence); }));
}

std::string make_section(const std::string& identifier, const std::string& heading, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<section id=\"{}\"><h2>{}</h2><div class=\"grid\">{}</div></section>\n", identifier,
                     escape_html(heading), body);
}

std::string make_figure(const ChartPlace& place) {
  return fmt::format(
      "<figure class=\"chart{}\" data-chart=\"{}\" data-index=\"{}\" data-variant=\"{}\"><figcaption><h3>{}</h3>"
      "<p>{}</p></figcaption></figure>\n",
      place.wide ? " wide" : "", place.chart, place.index, place.variant, escape_html(place.title),
      escape_html(place.text));
}

}  // namespace ockham::report
