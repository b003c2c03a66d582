// Mean-field variational inference for multilayer perceptrons: the baseline that the paper calls VI.
//
// q(θ) = Π N(θ_i | m_i, s_i²); maximises the evidence lower bound
//   ELBO = E_q log p(D | θ) - Σ_groups ½ Σ_i [δ_g (m_i² + s_i²) - 1 - log δ_g - log s_i²]
// by one sample a step with local reparametrisation: the outputs of a linear layer are drawn themselves,
//   N(a mᵀ + m_b, a² (s²)ᵀ + s_b²), for every example anew. Weights and biases of each layer have a precision δ_g of
// their own, which is learnt by the same gradient, and so is the noise of a regression.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ockham/data/dataset.h"
#include "ockham/probability/likelihood.h"

namespace ockham::paper {

struct MeanFieldOptions {
  std::vector<int64_t> hidden = {50};  // widths, ReLU after each; empty: linear
  int64_t epochs = 10000;              // each is one step on all examples
  double learning_rate = 1e-2;    // of Adam, to zero by a cosine, which also averages the noise of the samples away
  double first_deviation = 0.05;  // s at the start
  bool learn_prior = true, learn_noise = true;
  double prior_precision = 1, noise = 1;  // at the start
  int64_t curve_points = 200;
  uint64_t seed = 0;  // of weights and samples
};

/// One linear layer: [o, d] and [o], float64.
struct MeanFieldLayer {
  at::Tensor weight_mean, weight_deviation, bias_mean, bias_deviation;
};

struct MeanField {
  Likelihood likelihood;
  std::vector<MeanFieldLayer> layers;
  std::vector<double> precisions;  // weights and biases of each layer in turn
  double noise = 1;                // σ; 1 for classes
  /// The ELBO per example over the epochs, each value the mean since the one before.
  std::vector<double> curve_epochs, curve;
  /// Change of the ELBO per example from the last but one tenth of the epochs to the last one: near 0 when converged.
  double last_change = 0;
};

/// `go_on` sees the fraction done and ends the fit by false: the fit then is as it was. Throws Error(numerical) when
/// the bound is not finite. Gaussian (one σ) and Categorical.
MeanField fit_mean_field(const Dataset& data, const Likelihood& likelihood, int64_t outputs,
                         const MeanFieldOptions& options, const std::function<bool(double)>& go_on = {});

/// S draws of the outputs, [S, N, C].
at::Tensor sample_outputs(const MeanField& fit, const at::Tensor& inputs, int64_t samples, uint64_t seed);

/// Mean over the draws of the class probabilities [N, C].
at::Tensor mean_field_probabilities(const MeanField& fit, const at::Tensor& inputs, int64_t samples, uint64_t seed);

}  // namespace ockham::paper
