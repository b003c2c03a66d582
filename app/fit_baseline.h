// What one would do without the evidence, for comparison: a grid search over the prior precision by validation.
#pragma once

#include <optional>

#include "app/fit_results.h"
#include "ockham/select/grid_search.h"

namespace ockham::app {

struct FitBaseline {
  GridSearchResult search;
  std::vector<std::string> networks;
  std::string network;  // the best setting's, trained again on all data
  double prior_precision = 0;
  PredictiveScores train;
  std::optional<PredictiveScores> test;
};

/// The same networks and epochs as the fit. Nothing when it was not asked for, or the time was over before it
/// began.
std::optional<FitBaseline> search_baseline(const FitPlan& plan, const FitData& data, Messages& messages,
                                           const TimeIsOver& time_is_over, ProgressLine& line);

}  // namespace ockham::app
