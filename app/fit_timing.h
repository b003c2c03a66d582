// How long a training will take, by a look at the clock: for what is printed, never for what is chosen.
#pragma once

#include "ockham/select/train_candidates.h"

namespace ockham::app {

/// Seconds of one epoch with its share of the curvature passes, from one batch of each on throw-away weights.
double measured_epoch_seconds(const Candidate& candidate, const Dataset& data, const OnlineOptions& options);

}  // namespace ockham::app
