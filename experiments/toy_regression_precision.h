// The cells of fig:toy_regression_gridsearch and what they gave: fixed prior precisions, and online runs beside them.
#pragma once

#include <string>
#include <vector>

#include "experiments/toy_regression_parts.h"

namespace ockham::paper {

inline constexpr double toy_starts[] = {1e-3, 1, 1e2};  // prior precisions of the online runs

struct PrecisionSettings {
  std::string name;   // in the cells' names
  std::string title;  // in tables
  OnlineOptions online;
};
/// The paper's, and hyperparameters that keep up with the weights.
std::vector<PrecisionSettings> precision_settings(const Settings& settings);

struct FixedRun {
  double decade = 0;  // log10 of the precision
  const Json* result = nullptr;
};
struct OnlineRun {
  double start = 0;
  const Json* result = nullptr;
  double decade() const;  // where it ended
};

/// One seed with one of the settings, with the cells that are there.
struct PrecisionGroup {
  std::string settings;
  uint64_t seed = 0;
  std::vector<FixedRun> fixed;  // by increasing precision
  std::vector<OnlineRun> online;
  bool complete = false;

  const FixedRun* best() const;          // by evidence; none without cells
  const FixedRun* best_by_test() const;  // by the MAP predictive's test NLL
};
PrecisionGroup find_group(const Settings& settings, const Results& results, const std::string& name, uint64_t seed);

/// Figures of one seed: evidences with traces, over- and underfitting predictives, traces by epoch, test NLL.
void add_precision_figures(const Settings& settings, const Results& results, Presentation& out);

}  // namespace ockham::paper
