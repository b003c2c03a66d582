// What a run of an experiment leaves beside its cells: EXPERIMENT.json, EXPERIMENT.md and EXPERIMENT.html.
#pragma once

#include <string>

#include "experiments/experiment.h"
#include "experiments/run_experiment.h"

namespace ockham::paper {

/// All that is said about a run.
struct ExperimentReport {
  Json settings;  // as given on the command line
  Presentation presentation;
  ExperimentRun run;
};

/// The object that --json prints: schema, experiment, title, place, settings, claims, tables (columns, rows), notes,
/// cells (name and numbers), failures, missing, seconds (of this start), seconds_cells (of all cells).
Json to_json(const Experiment& experiment, const ExperimentReport& report);

/// Claims, tables and notes; no figures.
std::string to_markdown(const Experiment& experiment, const ExperimentReport& report);

/// Writes the three files and returns the path of the page.
std::string write_experiment_files(const std::string& directory, const Experiment& experiment,
                                   const ExperimentReport& report);

}  // namespace ockham::paper
