// How long a training will take, by a look at the clock: for what is printed, never for what is chosen.
#pragma once

#include "app/time_left.h"
#include "ockham/select/train_candidates.h"

namespace ockham::app {

/// Seconds of an epoch and of a curvature pass with its steps, from one batch of each on throw-away weights; zeros when
/// they break down numerically. A pass is without the products of an estimated log determinant.
EpochCost measure_epoch_cost(const Candidate& candidate, const Dataset& data, const OnlineOptions& options);

}  // namespace ockham::app
