// K Adam steps of size γ on the log hyperparameters of a fixed fit: the inner loop of the paper's Algorithm 1.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ockham/evidence/evidence.h"

namespace ockham {

struct HyperOptions {
  int64_t steps = 100;     // K
  double step_size = 0.1;  // γ
  bool learn_prior = true;
  bool learn_noise = true;
  bool learn_temperature = false;
  EvidenceOptions evidence;
};

/// Adam's moments on the hyperparameters; it lives on over fits.
struct HyperState {
  Hyperparameters first_moment, second_moment;
  int64_t step = 0;
};

struct HyperResult {
  Hyperparameters hyperparameters;  // after the last step
  std::vector<double> evidences;    // before each of the K steps
  Hyperparameters best;             // those of the highest of `evidences`
  double best_evidence = 0;
};

/// What the steps climb: the evidence, or another value of its kind (evidence/minibatch_bound.h), before step k = 0, 1,
/// …
struct EvidenceSource {
  std::function<Evidence(const Hyperparameters& hyperparameters, int64_t step)> evidence;
  const std::vector<std::string>& groups;  // names of the prior's, for messages
};

HyperResult optimise_hyperparameters(const EvidenceSource& source, const Hyperparameters& start,
                                     const HyperOptions& options, HyperState& state);

HyperResult optimise_hyperparameters(const LaplaceFit& fit, const Hyperparameters& start, const HyperOptions& options,
                                     HyperState& state);

}  // namespace ockham
