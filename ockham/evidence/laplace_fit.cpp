#include "ockham/evidence/laplace_fit.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>

#include "ockham/base/error.h"

namespace ockham {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check_options(const Model& model, const LaplaceOptions& options) {
  const auto& [network, likelihood, prior, hyperparameters] = model;
  if (!hyperparameters.log_prior_precision.defined()) {
    throw Error(ErrorKind::usage, "The prior precisions are not set; give one log precision per group of the prior.");
  }
  if (!(options.likelihood_weight > 0) || !std::isfinite(options.likelihood_weight)) {
    throw Error(ErrorKind::usage,
                "The likelihood weight is " + std::to_string(options.likelihood_weight) + ", it must be positive.");
  }
  if (options.damping && options.curvature.structure != Structure::kronecker) {
    throw Error(ErrorKind::usage, "Damping is a variant of the Kronecker structure; leave it out for the others.");
  }
  if (prior.layout().total() != network.layout().total() || prior.layout().count() != network.layout().count()) {
    throw Error(ErrorKind::usage, "The prior was made for " + std::to_string(prior.layout().total()) +
                                      " weights, but the network has " + std::to_string(network.layout().total()) +
                                      "; make it from the network's layout.");
  }
  if (hyperparameters.log_prior_precision.numel() != prior.size()) {
    throw Error(ErrorKind::usage, "There are " + std::to_string(hyperparameters.log_prior_precision.numel()) +
                                      " prior precisions, but the prior has " + std::to_string(prior.size()) +
                                      " groups.");
  }
}

}  // namespace

LaplaceFit fit_laplace(const Model& model, const Dataset& data, const LaplaceOptions& options) {
  check_options(model, options);
  const auto& [network, likelihood, prior, hyperparameters] = model;
  const auto start = std::chrono::steady_clock::now();
  CurvatureEstimate estimate = estimate_curvature(network, likelihood, data, hyperparameters, options.curvature);
  const double seconds_curvature = seconds_since(start);

  const auto decompose_start = std::chrono::steady_clock::now();
  DecomposeOptions decompose;
  decompose.damping = options.damping;
  decompose.eigenvectors = false;  // hyperparameter steps do without; predictions and samples get them at first use
  DecomposedCurvature curvature(std::move(estimate.curvature), prior, decompose);
  const at::Tensor mode = network.flat_parameters();
  LaplaceFit fit{likelihood,
                 prior,
                 options,
                 hyperparameters.clone(),
                 mode,
                 prior.statistics(mode),
                 std::move(estimate.data_fit),
                 std::move(curvature),
                 estimate.gradient,
                 std::move(estimate.gradient_derivatives),
                 std::move(estimate.messages)};
  fit.seconds_curvature = seconds_curvature;
  fit.seconds_decompose = seconds_since(decompose_start);
  return fit;
}

}  // namespace ockham
