// Ordinary training at a fixed prior precision, without evidence: what the grid search repeats for every setting.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ockham/train/map_epoch.h"

namespace ockham {

struct MapTrainingOptions {
  int64_t epochs = 1000;
  OptimiserOptions optimiser;
  MapOptions map;
  /// A Gaussian's noise is fitted by maximum likelihood, σ_c² = (1/N) Σ_n (y_nc - f_nc)² over the training examples
  /// (over the outputs too when they share one σ): every so many epochs, and after the last one. Weights and noise thus
  /// climb the joint log p(D | θ, σ) + log p(θ) in turn. 0: the noise stays as given.
  int64_t noise_interval = 10;
  /// σ is never less than this share of the targets' standard deviation: a network that interpolates its data would
  /// have an infinite likelihood.
  double smallest_noise = 1e-3;
  /// Keys of the random streams, to which the epoch is added.
  uint64_t seed = 0, candidate = 0, restart = 0;
};

struct MapTraining {
  Hyperparameters hyperparameters;  // as given, with the fitted noise
  double loss = 0;                  // of the last epoch
  double seconds = 0;
  std::string failure;  // why it ended early: the loss was not finite
  bool interrupted = false;
};

/// Trains the model's network in place. `watcher` sees the epochs done, and ends the training by false.
MapTraining train_map(const Model& model, const Dataset& data, const MapTrainingOptions& options,
                      const std::function<bool(int64_t epoch)>& watcher = {});

/// Inputs and targets in the form that network and likelihood want. Throws Error(data) as `prepare_targets`.
Dataset prepare_data(const Model& model, const Dataset& data);

/// f [N, C] float64, by batches and without a graph.
at::Tensor predict_outputs(const Network& network, const at::Tensor& inputs);

/// The model with the noise that fits these data best; unchanged without a Gaussian noise.
Hyperparameters fit_noise(const Model& model, const Dataset& prepared, double smallest_noise);

/// -(1/N) log p(D | θ): the negative log likelihood per example of the MAP predictive.
double map_nll(const Model& model, const Dataset& prepared);

}  // namespace ockham
