#include "ockham/evidence/optimise_hyperparameters.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/evidence/hyper_bounds.h"

namespace ockham {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;  // Adam's usual ones

struct Kind {
  const char* name;
  double most;                                       // bound of the logarithm, both ways
  const std::vector<std::string>* groups = nullptr;  // names, where there are any
};

[[noreturn]] void refuse_gradient(const Kind& kind, int64_t index) {
  const std::string of =
      kind.groups == nullptr ? std::string() : " of '" + (*kind.groups)[static_cast<size_t>(index)] + "'";
  throw Error(ErrorKind::numerical, std::string("The gradient of the evidence with respect to the ") + kind.name + of +
                                        " is not finite; use a smaller step size (--hyper-lr), or keep it as it is.");
}

/// One Adam step uphill on one kind of hyperparameter, within its bounds; `value` is replaced, not written into.
void climb(at::Tensor& value, const at::Tensor& gradient, at::Tensor& first, at::Tensor& second, const Kind& kind,
           double step_size, int64_t step) {
  const char* name = kind.name;
  if (value.numel() == 0) return;
  if (gradient.numel() != value.numel()) {
    throw Error(ErrorKind::usage, std::string("The fit has no derivative with respect to the ") + name +
                                      "; make it with root_derivatives, or do not learn it.");
  }
  if (!first.defined()) first = at::zeros_like(value);
  if (!second.defined()) second = at::zeros_like(value);
  if (first.sizes() != value.sizes() || second.sizes() != value.sizes()) {
    throw Error(ErrorKind::usage, std::string("The optimiser's state for the ") + name + " has " +
                                      std::to_string(first.numel()) + " values, but there are " +
                                      std::to_string(value.numel()) + "; start with a new state.");
  }
  // A few numbers: tensor operators would take longer than the rest of a step.
  const at::Tensor slopes = gradient.contiguous();
  at::Tensor next = value.clone(), next_first = first.clone(), next_second = second.clone();
  double *x = next.data_ptr<double>(), *m = next_first.data_ptr<double>(), *v = next_second.data_ptr<double>();
  const double* g = slopes.data_ptr<double>();
  const double correction1 = 1 - std::pow(kBeta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(kBeta2, static_cast<double>(step));
  for (int64_t i = 0; i < value.numel(); ++i) {
    if (!std::isfinite(g[i])) refuse_gradient(kind, i);
    m[i] = kBeta1 * m[i] + (1 - kBeta1) * g[i];
    v[i] = kBeta2 * v[i] + (1 - kBeta2) * g[i] * g[i];
    x[i] += step_size / correction1 * m[i] / (std::sqrt(v[i] / correction2) + kEpsilon);
    x[i] = std::clamp(x[i], -kind.most, kind.most);
  }
  value = next;
  first = next_first;
  second = next_second;
}

}  // namespace

HyperResult optimise_hyperparameters(const EvidenceSource& source, const Hyperparameters& start,
                                     const HyperOptions& options, HyperState& state) {
  HyperResult result;
  result.hyperparameters = start.clone();
  Hyperparameters& now = result.hyperparameters;
  for (int64_t k = 0; k < options.steps; ++k) {
    const Evidence current = source.evidence(now, k);
    result.evidences.push_back(current.value);
    if (k == 0 || current.value > result.best_evidence) {
      result.best_evidence = current.value;
      result.best = now.clone();
    }
    ++state.step;
    if (options.learn_prior) {
      climb(now.log_prior_precision, current.gradient.log_prior_precision, state.first_moment.log_prior_precision,
            state.second_moment.log_prior_precision, {"prior precision", most_log_prior_precision, &source.groups},
            options.step_size, state.step);
    }
    if (options.learn_noise) {
      climb(now.log_noise, current.gradient.log_noise, state.first_moment.log_noise, state.second_moment.log_noise,
            {"noise", most_log_noise}, options.step_size, state.step);
    }
    if (options.learn_temperature) {
      climb(now.log_temperature, current.gradient.log_temperature, state.first_moment.log_temperature,
            state.second_moment.log_temperature, {"temperature", most_log_temperature}, options.step_size, state.step);
    }
  }
  if (options.steps <= 0) {
    result.best = now.clone();
    result.best_evidence = source.evidence(now, 0).value;
  }
  return result;
}

HyperResult optimise_hyperparameters(const LaplaceFit& fit, const Hyperparameters& start, const HyperOptions& options,
                                     HyperState& state) {
  fit.curvature.expect_evaluations(options.steps);
  const auto of_fit = [&](const Hyperparameters& now, int64_t) { return evidence(fit, now, options.evidence); };
  return optimise_hyperparameters({of_fit, fit.prior.names()}, start, options, state);
}

}  // namespace ockham
