// The resolved settings of a fit: every `auto` replaced by a value, and said.
#pragma once

#include <string>
#include <vector>

#include "app/fit_data.h"
#include "app/fit_settings.h"
#include "app/progress_line.h"
#include "app/time_left.h"
#include "ockham/probability/likelihood.h"
#include "ockham/select/train_candidates.h"
#include "ockham/store/run_configuration.h"

namespace ockham::app {

struct FitPlan {
  FitFlags flags;  // nothing is absent any more
  Likelihood likelihood;
  std::vector<Candidate> candidates;
  CandidatesOptions options;
  LaplaceOptions posterior;            // of predictions; that of the trainings unless they take minibatch bounds
  int64_t evidence_batches = 0;        // of --evidence minibatch
  std::vector<EpochCost> epoch_costs;  // about, of each candidate, in seconds
  double expected_seconds = 0;

  /// The evidences are lower bounds; one batch of all examples has the evidence itself.
  bool is_bound() const { return evidence_batches > 1; }
};

/// Makes every candidate once, so that a network that cannot be made is refused here. Says what was chosen, with the
/// flag that overrides it.
FitPlan plan_fit(const FitFlags& flags, const FitData& data, Messages& messages, ProgressLine& line);

/// Throws Error(usage), naming the network, when the curvature of a candidate does not fit the memory budget: before
/// there is a run directory that such a run would leave behind.
void expect_memory(const FitPlan& plan, const FitData& data);

/// Under which a run records the checksum of its training data.
inline constexpr const char* data_checksum_name = "the training data (checksum)";

/// What must be equal for a run to be continued: the settings and the data.
RunConfiguration fit_configuration(const FitFlags& resolved, const FitData& data);

}  // namespace ockham::app
