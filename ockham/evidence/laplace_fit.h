// Mode, data fit and curvature together: all that the evidence needs, without a network and without data.
#pragma once

#include <string>
#include <vector>

#include "ockham/curvature/decomposed.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/probability/model.h"

namespace ockham {

struct LaplaceOptions {
  CurvatureOptions curvature;
  double likelihood_weight = 1;  // multiplies log p(D|θ) and the curvature: as if each example occurred that often
  bool damping = false;          // Kronecker with damping, the paper's ablation
};

struct LaplaceFit {
  Likelihood likelihood;
  Prior prior;
  LaplaceOptions options;
  Hyperparameters fitted_at;  // where the pass was made: the temperature (or σ per output) of the curvature
  at::Tensor mode;            // θ [P], float64
  Prior::Statistics mode_statistics;
  DataFit data_fit;
  DecomposedCurvature curvature;
  at::Tensor gradient;  // see CurvatureEstimate
  std::vector<at::Tensor> gradient_derivatives;
  std::vector<std::string> messages;
  double seconds_curvature = 0, seconds_decompose = 0;
};

/// One pass over the data at the network's parameters, and the decomposition.
LaplaceFit fit_laplace(const Model& model, const Dataset& data, const LaplaceOptions& options);

}  // namespace ockham
