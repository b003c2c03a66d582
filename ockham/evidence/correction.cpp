#include "ockham/evidence/correction.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/curvature/rebuild_dense.h"

namespace ockham {
namespace {

/// ∇_θ of -log p(D | θ) at unit noise and its derivatives in the root hyperparameters.
struct LikelihoodGradient {
  at::Tensor value;                     // [P]
  std::vector<at::Tensor> derivatives;  // M of [P]
};

LikelihoodGradient rebuilt_gradient(const LaplaceFit& fit, const Hyperparameters& hyperparameters) {
  const at::Tensor outputs = fit.data_fit.kept_outputs(), targets = fit.data_fit.kept_targets();
  const auto back = [&](const at::Tensor& column) {
    return back_through_jacobians(fit.curvature.curvature(), fit.prior.layout(), column);
  };
  LikelihoodGradient result;
  result.value = back(output_gradient(fit.likelihood, outputs, targets, hyperparameters));
  for (const at::Tensor& column : output_gradient_derivatives(fit.likelihood, outputs, targets, hyperparameters)) {
    result.derivatives.push_back(back(column));
  }
  return result;
}

/// Linear in the shift; for σ per output linear in σ^-2, which is exact.
LikelihoodGradient moved_gradient(const LaplaceFit& fit, const at::Tensor& shift) {
  LikelihoodGradient result{fit.gradient, fit.gradient_derivatives};
  const bool noise = std::holds_alternative<Gaussian>(fit.likelihood);
  for (size_t m = 0; m < result.derivatives.size(); ++m) {
    const double t = shift[static_cast<int64_t>(m)].item<double>();
    result.value = result.value + fit.gradient_derivatives[m] * (noise ? -0.5 * std::expm1(-2 * t) : t);
    if (noise) result.derivatives[m] = fit.gradient_derivatives[m] * std::exp(-2 * t);
  }
  return result;
}

}  // namespace

Correction correction_term(const LaplaceFit& fit, const CurvatureAt& at, const Hyperparameters& hyperparameters) {
  if (!fit.gradient.defined()) {
    throw Error(ErrorKind::usage,
                "The correction term needs the gradient of the likelihood; make the fit with likelihood_gradient.");
  }
  const LikelihoodGradient likelihood =
      at.rebuilt ? rebuilt_gradient(fit, hyperparameters) : moved_gradient(fit, at.point.root_shift);
  const double scale = fit.options.likelihood_weight * gradient_scale(fit.likelihood, hyperparameters);
  const at::Tensor data_gradient = likelihood.value * scale;
  const at::Tensor prior_gradient = fit.prior.expand(hyperparameters.log_prior_precision).exp() * fit.mode;
  const at::Tensor gradient = data_gradient + prior_gradient;
  const at::Tensor x = at.curvature.solve(at.point, gradient);

  Correction result;
  result.value = 0.5 * at::dot(gradient, x).item<double>();
  result.gradient_log_prior_precision = -0.5 * at.curvature.prior_form(at.point, x);
  const at::Tensor by_weight = prior_gradient * x;
  for (size_t i = 0; i < fit.prior.layout().count(); ++i) {
    const ParameterSlot& slot = fit.prior.layout()[i];
    fit.prior.accumulate(i, by_weight.narrow(0, slot.offset, slot.size), result.gradient_log_prior_precision);
  }
  const double exponent = curvature_scale_exponent(fit.likelihood, fit.options.curvature.kind);
  if (exponent != 0) {
    // The gradient goes with σ^-2 whatever the kind of curvature.
    result.gradient_log_scale_noise =
        -2 * at::dot(x, data_gradient).item<double>() - 0.5 * exponent * at.curvature.curvature_form(at.point, x);
  }
  const int64_t roots = at.curvature.root_derivative_count();
  if (roots > 0 && static_cast<int64_t>(likelihood.derivatives.size()) == roots) {
    result.gradient_root = -0.5 * at.curvature.root_form(at.point, x);
    for (int64_t m = 0; m < roots; ++m) {
      result.gradient_root[m] += scale * at::dot(x, likelihood.derivatives[static_cast<size_t>(m)]).item<double>();
    }
  }
  return result;
}

}  // namespace ockham
