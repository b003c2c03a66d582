#include "ockham/evidence/laplace_fit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/evidence/shared_curvature.h"

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

void check_slq(const LaplaceOptions& options) {
  if (options.curvature.structure != Structure::full) {
    throw Error(ErrorKind::usage,
                "Lanczos quadrature is for the full structure; the others have exact log determinants (--log-det slq "
                "needs --structure full).");
  }
  if (options.slq->preconditioner != Structure::kronecker && options.slq->preconditioner != Structure::diagonal) {
    throw Error(ErrorKind::usage,
                "The preconditioner of Lanczos quadrature is the Kronecker or the diagonal structure.");
  }
  if (options.curvature.kind == CurvatureKind::mc_fisher) {
    throw Error(ErrorKind::usage,
                "Lanczos quadrature makes many passes, and the Monte-Carlo Fisher would sample anew in each; use the "
                "Gauss-Newton or the empirical Fisher (--curvature ggn or ef).");
  }
  if (options.damping)
    throw Error(ErrorKind::usage,
                "Damping is a variant of the Kronecker structure; leave it out with Lanczos quadrature.");
}

/// Counts the examples of the many passes as one pass, which ends with the last of them.
std::function<void(int64_t)> spread_progress(const std::function<void(int64_t)>& progress, int64_t examples,
                                             const int64_t& batches, int64_t& done) {
  if (!progress) return {};
  return [=, &batches, &done](int64_t) {
    ++done;
    const double share = static_cast<double>(done) / static_cast<double>(std::max<int64_t>(1, batches));
    progress(std::min(done >= batches ? examples : examples - 1,
                      static_cast<int64_t>(share * static_cast<double>(examples))));
  };
}

StructureDifference difference_from(const DecomposedCurvature& preconditioner, const Model& model, const Dataset& data,
                                    const LaplaceOptions& options) {
  const SlqOptions& slq = *options.slq;
  int64_t batches = 0, done = 0;
  CurvatureProducts::Options how;
  how.kind = options.curvature.kind;
  how.progress = spread_progress(options.curvature.progress, data.size(), batches, done);
  if (Communicator* const together = options.communicator; together != nullptr) {
    how.part = together->part();
    how.total = [together](at::Tensor& sums) { together->all_reduce_sum(sums); };
  }
  const CurvatureProducts products(model.network, model.likelihood, data, model.hyperparameters, how);
  PrecisionPoint point;
  point.scale =
      options.likelihood_weight * curvature_scale(model.likelihood, options.curvature.kind, model.hyperparameters);
  point.log_prior_precision = model.hyperparameters.log_prior_precision;
  const DifferenceInput input{products,  preconditioner,        point,
                              slq.steps, model.network.dtype(), options.curvature.memory_budget};
  batches = products.batches() * passes_of_difference(input, slq.probes);
  return estimate_difference(input, random_signs(slq.seed, slq.probes, model.network.layout().total()));
}

}  // namespace

LaplaceFit fit_laplace(const Model& model, const Dataset& data, const LaplaceOptions& given) {
  check_options(model, given);
  LaplaceOptions options = given;
  if (options.slq) {
    check_slq(options);
    options.curvature.structure = options.slq->preconditioner;
  }
  const auto& [network, likelihood, prior, hyperparameters] = model;
  const auto start = std::chrono::steady_clock::now();
  Communicator* const together = options.communicator;
  CurvatureEstimate estimate =
      together != nullptr ? estimate_together(network, likelihood, data, hyperparameters, options.curvature, *together)
                          : estimate_curvature(network, likelihood, data, hyperparameters, options.curvature);
  const double seconds_curvature = seconds_since(start);

  const auto decompose_start = std::chrono::steady_clock::now();
  DecomposeOptions decompose;
  decompose.damping = options.damping;
  decompose.eigenvectors = false;  // hyperparameter steps do without; predictions and samples get them at first use
  if (together != nullptr) decompose.decompose = share_decompositions(*together);
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
  fit.options.communicator = nullptr;  // what comes after is for one process
  fit.seconds_curvature = seconds_curvature;
  fit.seconds_decompose = seconds_since(decompose_start);
  if (options.slq) {
    const auto difference_start = std::chrono::steady_clock::now();
    fit.difference = difference_from(fit.curvature, model, data, options);
    fit.seconds_curvature += seconds_since(difference_start);
  }
  return fit;
}

}  // namespace ockham
