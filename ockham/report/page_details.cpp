#include "ockham/report/page_parts.h"
#include "ockham/report/text.h"

namespace ockham::report {
namespace {

std::string definition_table(const std::string& title, const std::vector<ReportText>& entries) {
  std::string rows;
  for (const ReportText& entry : entries)
    if (!entry.value.empty())
      rows +=
          "<tr><th scope=\"row\">" + escape_html(entry.name) + "</th><td>" + escape_html(entry.value) + "</td></tr>";
  if (rows.empty()) return "";
  return "<div class=\"card\"><h3>" + escape_html(title) + "</h3><table class=\"definitions\">" + rows +
         "</table></div>";
}

}  // namespace

std::string render_details(const RunReport& report) {
  std::vector<ReportText> run = {{"Data", report.data}, {"Run directory", report.run}};
  run.insert(run.end(), report.versions.begin(), report.versions.end());
  std::string body = definition_table("Settings", report.settings) + definition_table("Data and versions", run);
  if (!report.messages.empty()) {
    std::string items;
    for (const std::string& message : report.messages) items += "<li>" + escape_html(message) + "</li>";
    body += "<div class=\"card wide\"><h3>Messages</h3><ul>" + items + "</ul></div>";
  }
  return make_section("details", "The run", body);
}

}  // namespace ockham::report
