// Marginal-likelihood based training: the paper's Algorithm 1.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ockham/data/partition.h"
#include "ockham/evidence/evidence.h"
#include "ockham/evidence/optimise_hyperparameters.h"
#include "ockham/train/map_epoch.h"

namespace ockham {

/// One curvature pass, for the trace.
struct OnlinePass {
  int64_t epoch = 0;                // epochs done
  double loss = 0;                  // mean batch loss of that epoch
  std::vector<double> evidences;    // before each of the K steps
  Hyperparameters hyperparameters;  // after them
  double log_evidence = 0;          // the highest of them; without steps, that of the hyperparameters as they are
  /// With batches (`evidence_batch`): `evidences` are estimates from one batch each, and so is `log_evidence`, their
  /// mean, when this is true; when it is not, that is the bound of a whole partition after the steps.
  bool estimate = false;
};

/// The state with the highest evidence so far: θ, and the hyperparameters at which it was evaluated.
struct OnlineBest {
  double log_evidence = -std::numeric_limits<double>::infinity();
  at::Tensor mode;  // [P] float64; undefined before the first pass
  Hyperparameters hyperparameters;
  int64_t epoch = 0;
};

/// Everything that moves during training: written down and taken up again, training goes on bit for bit.
struct OnlineState {
  int64_t epoch = 0;      // epochs done
  at::Tensor theta;       // [P] float64 holds float32 weights exactly
  std::string optimiser;  // Optimiser::save()
  Hyperparameters hyperparameters;
  HyperState hyper;
  OnlineBest best;
  int64_t passes_without_rise = 0;
  std::vector<OnlinePass> passes;
  std::vector<double> losses;  // per epoch
  std::vector<std::string> messages;
  double seconds_training = 0, seconds_curvature = 0;
  std::string failure;  // why it ended early (not finite); empty when it did not
};

/// What a long epoch says while it runs.
struct BatchProgress {
  int64_t epoch = 0;       // the one being trained, from 1
  bool curvature = false;  // in its curvature pass
  int64_t examples_done = 0;
};

struct OnlineOptions {
  int64_t epochs = 1000;
  int64_t burn_in = 0;    // B: no evidence before this many epochs are done
  int64_t frequency = 1;  // F: epochs between curvature passes; the last epoch always has one
  HyperOptions hyper;     // K steps of size γ
  /// States before this many epochs are never the best one, unless there is no other: while the weights still move
  /// fast, far from a mode, an evidence can be spuriously high. 0: every state counts.
  int64_t best_after = 0;
  /// With `largest` above 0: the minibatch bound takes the place of the evidence (evidence/minibatch_bound.h). Each of
  /// the K steps sees one batch of at most `largest` examples, and no pass over all data is made but for the states
  /// that count as best: those from `best_after` on, the last one, and before them passes 1, 2, 4, 8, … for a training
  /// that is ended early.
  PartitionSizes evidence_batch;
  OptimiserOptions optimiser;
  MapOptions map;  // its likelihood weight is laplace.likelihood_weight
  LaplaceOptions laplace;
  /// Stops when the evidence has not risen by `stall_tolerance` nats for this many passes; 0: never.
  int64_t stall_passes = 0;
  double stall_tolerance = 1e-3;
  /// Keys of the random streams: (seed, candidate, restart), to which the epoch is added.
  uint64_t seed = 0, candidate = 0, restart = 0;
  std::shared_ptr<const OnlineState> resume;  // goes on from here instead of from the model as given
  int64_t until = 0;  // ends after this many epochs, as when the watcher says so; 0: all of them
  /// After every batch of an epoch that takes long (the first, and those after one of more than a fifth of a second);
  /// false ends the training at once, in the state after the last whole epoch.
  std::function<bool(const BatchProgress&)> after_batch;
  /// With `laplace.communicator` several processes train one network together; all call `train_online` with the same
  /// model, data and options, and every watcher and `after_batch` may differ. Who says false asks for the end: all
  /// ranks end at the same moment, at the latest one step and one curvature pass later, in the state after the last
  /// whole epoch. When a rank is lost, the others hand that state to `rescue`, and Error(peer_lost) is thrown.
  std::function<void(const OnlineState&)> rescue;
};

struct OnlineResult {
  OnlineBest best;           // the network has its θ too
  double gradient_norm = 0;  // of the MAP objective there: far from a mode an evidence can be spuriously high;
                             // NaN when `after_batch` ended the training
  OnlineState state;         // as it was at the end
  std::string failure;       // that of the state, or why there is no best state
  bool finished = false;     // all epochs are done, it stalled, or it failed: not ended by the watcher
};

/// What a watcher sees after every epoch.
struct OnlineProgress {
  int64_t epoch = 0;
  double loss = 0;
  const OnlinePass* pass = nullptr;    // when this epoch had one
  std::function<OnlineState()> state;  // for a checkpoint
};
using OnlineWatcher = std::function<bool(const OnlineProgress&)>;  // false ends the training with the best state so far

/// Trains the model's network in place, from its parameters and hyperparameters. Divergence is data: `failure` says it,
/// and the best state before it is restored.
OnlineResult train_online(const Model& model, const Dataset& data, const OnlineOptions& options,
                          const OnlineWatcher& watcher = {});

}  // namespace ockham
