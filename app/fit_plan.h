// The resolved settings of a fit: every `auto` replaced by a value, and said.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/fit_data.h"
#include "app/fit_flags.h"
#include "ockham/probability/likelihood.h"
#include "ockham/select/train_candidates.h"
#include "ockham/store/run_configuration.h"

namespace ockham::app {

struct FitPlan {
  FitFlags flags;  // nothing is absent any more
  Likelihood likelihood;
  std::vector<Candidate> candidates;
  CandidatesOptions options;
  std::vector<double> epoch_seconds;  // about, of each candidate, with its share of the curvature passes
  double expected_seconds = 0;
};

/// Makes every candidate once, so that a network that cannot be made is refused here. Says what was chosen, with the
/// flag that overrides it.
FitPlan plan_fit(const FitFlags& flags, const FitData& data, Messages& messages);

/// Flag (without dashes) and value of everything that decides the result, in the order of the help; lists are
/// comma-separated.
std::vector<std::pair<std::string, std::string>> fit_settings(const FitFlags& resolved);

/// config.toml: `ockham fit --config config.toml` does the same again.
std::string fit_toml(const FitFlags& resolved);

/// Under which a run records the checksum of its training data.
inline constexpr const char* data_checksum_name = "the training data (checksum)";

/// What must be equal for a run to be continued: the settings and the data.
RunConfiguration fit_configuration(const FitFlags& resolved, const FitData& data);

}  // namespace ockham::app
