#include "ockham/report/assets.h"
#include "ockham/report/page_parts.h"
#include "ockham/report/report_data.h"
#include "ockham/report/text.h"

namespace ockham {
namespace {

// Rounded: the page shows four digits or so, and the data are most of its size.
constexpr int page_digits = 9;

/// What the charts do not read need not be in the page twice.
RunReport keep_chart_data(RunReport report) {
  report.settings.clear();
  report.versions.clear();
  report.messages.clear();
  report.warnings.clear();
  report.images = {};
  return report;
}

// Paper is always light; the reader's choice goes before the system's.
std::string style() {
  const std::string dark = report::dark_declarations;
  return std::string(report::style_sheet) +
         "@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=light]) {" + dark +
         "} }\n@media screen { :root[data-theme=dark] {" + dark + "} }\n";
}

}  // namespace

std::string render_report(const RunReport& whole) {
  const RunReport report = thin_report(whole);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'; img-src data:\">\n<title>" +
         report::escape_html(report::page_title(report)) + " – ockham</title>\n<style>\n" + style() +
         "</style>\n</head>\n<body>\n<main>\n" + report::render_summary(report) +
         "<noscript><p class=\"card\">The charts are drawn by a script inside this page; turn scripts on to see "
         "them.</p></noscript>\n" +
         report::render_ranking(report) + report::render_training(report) + report::render_predictions(report) +
         report::render_images(report) + report::render_details(report) +
         "</main>\n<script type=\"application/json\" id=\"report-data\">" +
         report::escape_script(report::report_json(keep_chart_data(report), page_digits)) + "</script>\n<script>\n" +
         report::script + "</script>\n</body>\n</html>\n";
}

}  // namespace ockham
