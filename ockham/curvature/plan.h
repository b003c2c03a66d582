// Private to curvature/: which accumulator takes which parameter, decided from one observed forward pass and the memory
// budget.
#pragma once

#include <string>
#include <vector>

#include "ockham/curvature/accumulate.h"
#include "ockham/curvature/estimate_curvature.h"

namespace ockham {

struct CurvaturePlan {
  std::vector<Accumulator> accumulators;
  std::vector<size_t> rows_by_autograd;  // unexplained parameters whose rows an exact block needs
  bool keep_jacobian = false;            // dense blocks collect J itself; they are made from it at the end
  std::vector<std::string> messages;
  int64_t bytes = 0;              // what the blocks and their decomposition will need
  int64_t bytes_per_example = 0;  // largest rows at once, for the size of batches
};

struct PlanInput {
  const Network& network;
  const Observation& observation;
  int64_t examples = 0;     // N of the data set
  int64_t columns = 0;      // K
  int64_t outputs = 0;      // C
  int64_t derivatives = 0;  // M
  int64_t passed = 0;       // examples of this pass, when it is one part of several; 0: all
};

/// Throws Error(usage) when the budget is too small, with the bytes needed and the structures that would fit.
void expect_within_budget(const PlanInput& input, const CurvatureOptions& options);

/// Throws as `expect_within_budget`.
CurvaturePlan plan_curvature(const PlanInput& input, const CurvatureOptions& options);

}  // namespace ockham
