#include "experiments/experiment_page.h"

#include <fmt/format.h>

#include "experiments/table_text.h"

namespace ockham::paper {
namespace {

constexpr const char* kStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #f4f5f7; --surface: #ffffff; --ink: #1c2128; --quiet: #59626e; --line: #d5dae1; --faint: #eaedf1;
  --yes: #00754f; --no: #b8322a; --partly: #9a5b00; --open: #59626e; --warn-ground: #fff5e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --surface: #1d2128; --ink: #e8ebf0; --quiet: #a9b1bd; --line: #39404b; --faint: #2a3039;
    --yes: #4fd1a0; --no: #ff8a80; --partly: #f2b45c; --open: #a9b1bd; --warn-ground: #33291a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 1.35rem; margin: 0 0 12px; }
h3 { font-size: 1.02rem; margin: 0 0 6px; }
section { margin-top: 36px; }
code { font: 0.94em ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); margin: 0; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 16px 20px;
  margin: 0 0 16px; }
.claim { display: grid; grid-template-columns: 5.2em minmax(0, 1fr); gap: 2px 14px; padding: 10px 0;
  border-top: 1px solid var(--faint); }
.claim:first-child { border-top: none; }
.claim p { margin: 0; }
.claim .grounds { grid-column: 2; color: var(--quiet); font-size: 0.92rem; overflow-wrap: anywhere; }
.verdict { font-weight: 650; text-align: center; border: 1px solid currentColor; border-radius: 14px;
  align-self: start; line-height: 1.6; font-size: 0.92rem; }
.yes { color: var(--yes); } .no { color: var(--no); } .partly { color: var(--partly); } .open { color: var(--open); }
.warning { background: var(--warn-ground); border-color: var(--partly); margin-top: 16px; }
figure { overflow-x: auto; }
figure svg { max-width: 100%; height: auto; display: block; margin: 0 auto; }
figcaption { color: var(--quiet); font-size: 0.92rem; margin-top: 8px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td { padding: 4px 12px; text-align: right; border-bottom: 1px solid var(--faint); white-space: nowrap;
  font-weight: 400; }
thead th { color: var(--quiet); border-bottom-color: var(--line); vertical-align: bottom; white-space: normal; }
th:first-child, td:first-child { text-align: left; }
.settings th { text-align: left; color: var(--quiet); } .settings td { text-align: left; white-space: normal;
  overflow-wrap: anywhere; }
.note { color: var(--quiet); font-size: 0.92rem; margin: 8px 0 0; }
ul { margin: 0; padding-left: 20px; overflow-wrap: anywhere; }
@media print { body { background: none; font-size: 10.5pt; } .card { break-inside: avoid; } }
)css";

std::string section(const std::string& heading, const std::string& body) {
  return body.empty() ? "" : fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", heading, body);
}

std::string claims(const Presentation& presentation) {
  std::string body;
  for (const Claim& claim : presentation.claims) {
    const std::string word = verdict_word(claim.verdict);
    body += fmt::format(
        "<div class=\"claim\"><span class=\"verdict {}\">{}</span><p>{}</p>"
        "<p class=\"grounds\">{}</p></div>\n",
        word, word, escape_html(claim.statement), escape_html(claim.grounds));
  }
  return body.empty() ? "" : fmt::format("<div class=\"card\">\n{}</div>\n", body);
}

std::string figures(const Presentation& presentation) {
  std::string body;
  for (const Figure& figure : presentation.figures)
    body += fmt::format("<figure class=\"card\">\n<h3>{}</h3>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                        escape_html(figure.title), figure.svg, escape_html(figure.caption));
  return body;
}

std::string row(const std::vector<std::string>& fields, const char* tag) {
  std::string text = "<tr>";
  for (const std::string& field : fields) text += fmt::format("<{}>{}</{}>", tag, escape_html(field), tag);
  return text + "</tr>\n";
}

std::string tables(const Presentation& presentation) {
  std::string body;
  for (const Table& table : presentation.tables) {
    body +=
        fmt::format("<div class=\"card\">\n<h3>{}</h3>\n<div class=\"scroll\"><table>\n<thead>{}</thead>\n<tbody>\n",
                    escape_html(table.title), row(table.columns, "th"));
    for (const auto& fields : table.rows) body += row(fields, "td");
    body += "</tbody>\n</table></div>\n";
    if (!table.note.empty()) body += fmt::format("<p class=\"note\">{}</p>\n", escape_html(table.note));
    body += "</div>\n";
  }
  return body;
}

std::string list(const std::vector<std::string>& items) {
  std::string body;
  for (const std::string& item : items) body += fmt::format("<li>{}</li>\n", escape_html(item));
  return body.empty() ? "" : fmt::format("<ul>\n{}</ul>\n", body);
}

std::string warnings(const ExperimentRun& run) {
  std::vector<std::string> sentences;
  if (!run.missing.empty())
    sentences.push_back(fmt::format("{} of {} cells are not computed yet: {}{}.", run.missing.size(),
                                    run.missing.size() + run.results.size() + run.failures.size(), run.missing.front(),
                                    run.missing.size() > 1 ? ", …" : ""));
  for (const auto& [name, sentence] : run.failures) sentences.push_back(fmt::format("{} failed: {}", name, sentence));
  return sentences.empty() ? "" : fmt::format("<div class=\"card warning\">\n{}</div>\n", list(sentences));
}

std::string settings(const ExperimentReport& report) {
  std::string body;
  const auto add = [&](const std::string& name, const std::string& value) {
    body += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escape_html(name), escape_html(value));
  };
  for (const auto& [name, value] : report.settings.items())
    add(name, value.is_string() ? value.get<std::string>() : value.dump());
  double seconds = 0;
  for (const auto& [name, one] : report.run.seconds) seconds += one;
  add("cells", fmt::format("{} finished, {} failed, {} missing", report.run.results.size(), report.run.failures.size(),
                           report.run.missing.size()));
  add("time of all cells", fmt::format("{:.0f} s, one thread each", seconds));
  add("ockham", OCKHAM_VERSION);
  return fmt::format("<div class=\"card scroll\"><table class=\"settings\">\n{}</table></div>\n", body);
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\n':
      case '\t':
        safe += letter;
        break;
      default:
        if (static_cast<unsigned char>(letter) < 0x20)
          safe += "\xEF\xBF\xBD";
        else
          safe += letter;
    }
  }
  return safe;
}

std::string experiment_page(const Experiment& experiment, const ExperimentReport& report) {
  const Presentation& presentation = report.presentation;
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/>\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<main>\n<p class=\"quiet\">ockham paper {}</p>\n<h1>{}</h1>\n<p class=\"quiet\">{}</p>\n",
      escape_html(experiment.title), kStyle, escape_html(experiment.name), escape_html(experiment.title),
      escape_html(experiment.place));
  page += warnings(report.run);
  page += section("What the paper says, and whether it holds here", claims(presentation));
  page += section("Figures", figures(presentation));
  page += section("Tables", tables(presentation));
  std::string notes = list(presentation.notes);
  if (!notes.empty()) notes = fmt::format("<div class=\"card\">\n{}</div>\n", notes);
  page += section("Notes", notes);
  page += section("Settings", settings(report));
  return page + "</main>\n</body>\n</html>\n";
}

}  // namespace ockham::paper
