// One epoch on the MAP objective log p(D | θ) + log p(θ), by minibatches.
#pragma once

#include <cstdint>
#include <functional>

#include "ockham/base/random.h"
#include "ockham/data/augment.h"
#include "ockham/data/dataset.h"
#include "ockham/probability/model.h"
#include "ockham/train/optimiser.h"

namespace ockham {

class Communicator;

struct MapOptions {
  int64_t batch_size = 0;  // 0: the whole data set
  bool shuffle = true;     // by the stream below
  double likelihood_weight = 1;
  AugmentOptions augment;                               // of every batch of images, by a stream of its own
  std::function<void(int64_t examples_done)> progress;  // after every batch; may throw to interrupt, but see below
  /// Several processes make the epoch together, each on its part of every batch; gradients and losses are summed before
  /// the prior's are added, so that all take the same steps. Not owned; null: this process alone.
  Communicator* communicator = nullptr;
  /// With a communicator `progress` must not throw. Instead this is asked before every step: when it says true on any
  /// rank, all throw `TrainingStopped` at the same step, before it.
  std::function<bool()> stop;
};

struct TrainingStopped {};

/// Minimises, batch by batch, (N/B Σ_batch -w log p(y|f) + ½ Σ δ θ²) · scale / w with the scale of `map_loss_scale`, so
/// that learning rates mean the same for every weight; steps of SGD are shortened where the prior alone would make
/// them diverge. `order` keys the shuffling and, by its seed, the augmentation.
/// Returns the mean of the batch losses; Error(numerical) names what is not finite first. Targets must be prepared.
double map_epoch(const Model& model, const Dataset& data, const MapOptions& options, Optimiser& optimiser,
                 at::Generator order);

/// What the negative log joint is multiplied by, so that learning rates mean the same for every N and σ:
/// 2σ²/(N·C) for a Gaussian with one σ (a mean squared error), 1/N otherwise. A constant does not move the optimum; the
/// prior is not weighed C times.
double map_loss_scale(const Likelihood& likelihood, const Hyperparameters& hyperparameters, int64_t examples,
                      int64_t outputs);

/// ‖∇_θ of the negative log joint‖ over the whole data set: how far from a mode θ is.
double map_gradient_norm(const Model& model, const Dataset& data, const MapOptions& options);

}  // namespace ockham
