// How far learnt hyperparameters may go. Where the evidence has no optimum (weights that are all zero, a network that
// fits its targets exactly) they would run on until numbers overflow.
#pragma once

#include <string>
#include <vector>

#include "ockham/probability/hyperparameters.h"

namespace ockham {

/// Of a natural logarithm, both ways from 0.
inline constexpr double most_log_prior_precision = 27.631021115928547;  // δ from 1e-12 to 1e12
inline constexpr double most_log_noise = 18.420680743952367;            // σ from 1e-8 to 1e8
inline constexpr double most_log_temperature = 6.907755278982137;       // T from 1e-3 to 1e3

struct ReachedBound {
  std::string hyperparameter;  // "prior precision of 'layer1.weight'", "noise", "noise of output 1", "temperature"
  double bound = 0;            // not its logarithm
};

/// Those that are at a bound, or were given beyond it; `groups` are the names of the prior's.
std::vector<ReachedBound> reached_bounds(const Hyperparameters& values, const std::vector<std::string>& groups);

/// One sentence that names the first of them, how many there are, and what it may mean; empty when there are none.
std::string describe_bounds(const std::vector<ReachedBound>& reached);

}  // namespace ockham
