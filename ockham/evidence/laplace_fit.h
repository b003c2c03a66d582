// Mode, data fit and curvature together: all that the evidence needs, without a network and without data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ockham/curvature/decomposed.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/curvature/structure_difference.h"
#include "ockham/probability/model.h"

namespace ockham {

class Communicator;

struct LaplaceOptions {
  CurvatureOptions curvature;
  double likelihood_weight = 1;  // multiplies log p(D|θ) and the curvature: as if each example occurred that often
  bool damping = false;          // Kronecker with damping, the paper's ablation
  /// The full structure without its P × P matrix: its log determinant is estimated by stochastic Lanczos quadrature as
  /// the difference from the preconditioner's. Costs probes × steps products with the curvature.
  std::optional<SlqOptions> slq;
  /// Several processes make the fit together, each on its part of the data: all call `fit_laplace` with the same model,
  /// data and options, and get the same fit (evidence/shared_curvature.h). Not owned; null: this process alone.
  Communicator* communicator = nullptr;
};

struct LaplaceFit {
  Likelihood likelihood;
  Prior prior;
  LaplaceOptions options;     // with `slq`, the structure is the preconditioner's: that of the curvature below
  Hyperparameters fitted_at;  // where the pass was made: the temperature (or σ per output) of the curvature
  at::Tensor mode;            // θ [P], float64
  Prior::Statistics mode_statistics;
  DataFit data_fit;
  DecomposedCurvature curvature;
  at::Tensor gradient;  // see CurvatureEstimate
  std::vector<at::Tensor> gradient_derivatives;
  std::vector<std::string> messages;
  double seconds_curvature = 0, seconds_decompose = 0;
  /// log|H| of the full structure less that of `curvature`, with `slq`. Solves, samples and predictions use
  /// `curvature`.
  std::optional<StructureDifference> difference = std::nullopt;
};

/// One pass over the data at the network's parameters, and the decomposition; with `slq` many more passes.
LaplaceFit fit_laplace(const Model& model, const Dataset& data, const LaplaceOptions& options);

}  // namespace ockham
