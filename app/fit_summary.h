// What `ockham fit` says: run.json, which is also its --json, and a table for people.
#pragma once

#include <string>

#include "app/fit_baseline.h"
#include "app/fit_results.h"
#include "app/fit_training.h"

namespace ockham::app {

struct FitSummary {
  const FitPlan& plan;
  const FitData& data;
  const FitResults& results;
  const std::optional<FitBaseline>& baseline;
  TrainingsEnd end = TrainingsEnd::complete;
  std::string run;
  std::vector<std::string> messages;
  double seconds = 0;
};

/// One JSON object; every double round-trips, what is not finite is null.
std::string fit_json(const FitSummary& summary);
std::string fit_table(const FitSummary& summary);

}  // namespace ockham::app
