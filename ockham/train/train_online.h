// Marginal-likelihood based training: the paper's Algorithm 1.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ockham/evidence/evidence.h"
#include "ockham/evidence/optimise_hyperparameters.h"
#include "ockham/train/map_epoch.h"

namespace ockham {

struct OnlineOptions {
  int64_t epochs = 1000;
  int64_t burn_in = 0;    // B: no evidence before this many epochs are done
  int64_t frequency = 1;  // F: epochs between curvature passes
  HyperOptions hyper;     // K steps of size γ
  OptimiserOptions optimiser;
  MapOptions map;  // its likelihood weight is laplace.likelihood_weight
  LaplaceOptions laplace;
  /// Stops when the evidence has not risen by `stall_tolerance` nats for this many passes; 0: never.
  int64_t stall_passes = 0;
  double stall_tolerance = 1e-3;
  /// Keys of the random streams: (seed, candidate, restart), to which the epoch is added.
  uint64_t seed = 0, candidate = 0, restart = 0;
};

/// One curvature pass, for the trace.
struct OnlinePass {
  int64_t epoch = 0;                // epochs done
  double loss = 0;                  // mean batch loss of that epoch
  std::vector<double> evidences;    // before each of the K steps
  Hyperparameters hyperparameters;  // after them
};

struct OnlineResult {
  at::Tensor mode;                  // θ [P] of the state with the highest evidence, float64; the network has it too
  Hyperparameters hyperparameters;  // at which that evidence was reached
  double log_evidence = 0;
  int64_t best_epoch = 0;
  double gradient_norm = 0;  // of the MAP objective there: far from a mode an evidence can be spuriously high
  int64_t epochs = 0;        // done
  std::vector<OnlinePass> passes;
  std::vector<double> losses;  // per epoch
  double seconds_training = 0, seconds_curvature = 0;
  std::string failure;  // why it ended early (not finite); empty when it did not
  std::vector<std::string> messages;
};

/// Called after every epoch; false ends the training with the best state so far.
using OnlineWatcher = std::function<bool(int64_t epoch, double loss, const OnlinePass* pass)>;

/// Trains the network in place. Divergence is data: `failure` says it, and the best state before it is restored.
OnlineResult train_online(const Network& network, const Likelihood& likelihood, const Dataset& data, const Prior& prior,
                          const Hyperparameters& start, const OnlineOptions& options,
                          const OnlineWatcher& watcher = {});

}  // namespace ockham
