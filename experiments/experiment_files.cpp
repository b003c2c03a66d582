#include "experiments/experiment_files.h"

#include <fmt/format.h>

#include "experiments/experiment_page.h"
#include "experiments/table_text.h"
#include "ockham/base/atomic_file.h"

namespace ockham::paper {

Json to_json(const Experiment& experiment, const ExperimentReport& report) {
  const Presentation& presentation = report.presentation;
  Json json = {{"schema", 1},
               {"experiment", experiment.name},
               {"title", experiment.title},
               {"place", experiment.place},
               {"settings", report.settings}};
  json["claims"] = Json::array();
  for (const Claim& claim : presentation.claims)
    json["claims"].push_back(
        {{"statement", claim.statement}, {"verdict", verdict_word(claim.verdict)}, {"grounds", claim.grounds}});
  json["tables"] = Json::array();
  for (const Table& table : presentation.tables)
    json["tables"].push_back(
        {{"title", table.title}, {"columns", table.columns}, {"rows", table.rows}, {"note", table.note}});
  json["notes"] = presentation.notes;
  json["cells"] = Json::object();
  for (const auto& [name, result] : report.run.results) json["cells"][name] = result;
  json["failures"] = Json::object();
  for (const auto& [name, sentence] : report.run.failures) json["failures"][name] = sentence;
  json["missing"] = report.run.missing;
  double seconds = 0;
  for (const auto& [name, one] : report.run.seconds) seconds += one;
  json["seconds"] = report.run.seconds_now;
  json["seconds_cells"] = seconds;
  json["ockham"] = OCKHAM_VERSION;
  return json;
}

std::string to_markdown(const Experiment& experiment, const ExperimentReport& report) {
  std::string text = fmt::format("# {}\n{}\n\n", experiment.title, experiment.place);
  if (!report.presentation.claims.empty()) {
    text += "| claim | holds here | grounds |\n|---|---|---|\n";
    for (const Claim& claim : report.presentation.claims)
      text += fmt::format("| {} | **{}** | {} |\n", claim.statement, verdict_word(claim.verdict), claim.grounds);
    text += "\n";
  }
  for (const Table& table : report.presentation.tables) text += markdown(table, 2) + "\n";
  if (!report.presentation.notes.empty()) text += "## Notes\n";
  for (const std::string& note : report.presentation.notes) text += fmt::format("- {}\n", note);
  for (const auto& [name, sentence] : report.run.failures) text += fmt::format("- failed: {}: {}\n", name, sentence);
  if (!report.run.missing.empty())
    text += fmt::format("- {} of {} cells are not computed yet.\n", report.run.missing.size(),
                        report.run.missing.size() + report.run.results.size() + report.run.failures.size());
  return text;
}

std::string write_experiment_files(const std::string& directory, const Experiment& experiment,
                                   const ExperimentReport& report) {
  const std::string base = fmt::format("{}/{}", directory, experiment.name);
  write_atomically(base + ".json",
                   to_json(experiment, report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  write_atomically(base + ".md", to_markdown(experiment, report));
  write_atomically(base + ".html", experiment_page(experiment, report));
  return base + ".html";
}

}  // namespace ockham::paper
