// Computes the cells of an experiment, several at once, and keeps what each one gave.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace ockham::paper {

/// What goes on, for a line on the terminal.
struct RunProgress {
  int64_t done = 0;   // cells that have a result or have failed, those of earlier starts included
  int64_t total = 0;  // cells that were asked for
  std::vector<std::pair<std::string, double>> running;  // name and fraction 0 … 1
  double seconds_left = 0;                              // 0: too early to say
};

struct RunOptions {
  std::string directory;          // results are kept there
  int64_t workers = 1;            // cells at once; each runs on one thread, so that results do not depend on it
  std::vector<std::string> only;  // computes only cells whose name has all of these words
  double patience = 0.7;          // seconds that an interrupted run waits for its cells
  std::function<bool()> interrupted;
  std::function<void(const RunProgress&)> progress;      // a few times a second, from the calling thread
  std::function<void(const std::string& sentence)> say;  // what stays on the screen, from any thread, one at a time
};

struct ExperimentRun {
  Results results;                              // of all cells that have one, whether `only` asked for them or not
  std::map<std::string, std::string> failures;  // name and sentence
  std::vector<std::string> missing;             // cells that nobody has computed yet
  std::map<std::string, double> seconds;        // of each finished cell
  int64_t computed = 0, kept = 0;               // cells finished now, and before
  double seconds_now = 0;
  bool interrupted = false;
  /// Cells did not end within the patience, and their threads still run: write what there is and end the process by
  /// std::_Exit. Kept results are whole at any time.
  bool abandoned = false;
};

/// Cells run from the dearest on. A kept result of equal settings is used, one of other settings is computed again and
/// this is said. A cell that throws Error is recorded with its sentence and the others go on; a later start tries it
/// again unless the failure was numerical. Throws Error(usage) when `only` matches no cell.
ExperimentRun run_experiment(const Experiment& experiment, const Settings& settings, const RunOptions& options);

}  // namespace ockham::paper
