// Small cases of every likelihood, with hyperparameters away from their defaults.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ockham/probability/likelihood.h"

namespace ockham::testing {

struct LikelihoodCase {
  std::string name;
  Likelihood likelihood;
  at::Tensor outputs, targets;  // float64, prepared
  Hyperparameters hyperparameters;
};

inline std::vector<LikelihoodCase> likelihood_cases() {
  at::manual_seed(3);
  const auto values = [](std::vector<double> list) { return at::tensor(list, at::kDouble); };
  const at::Tensor none = values({});
  const int64_t n = 5;
  const at::Tensor classes = at::tensor(std::vector<int64_t>{0, 3, 1, 2, 0});
  const at::Tensor coins = values({0, 1, 1, 0, 1}).unsqueeze(1);
  return {
      {"gaussian",
       Gaussian{},
       at::randn({n, 3}, at::kDouble),
       at::randn({n, 3}, at::kDouble),
       {at::Tensor(), values({-0.4}), none}},
      {"gaussian_per_output",
       Gaussian{true},
       at::randn({n, 3}, at::kDouble),
       at::randn({n, 3}, at::kDouble),
       {at::Tensor(), values({-0.4, 0.3, 0.9}), none}},
      {"categorical", Categorical{}, 2 * at::randn({n, 4}, at::kDouble), classes, {at::Tensor(), none, values({0.35})}},
      {"bernoulli", Bernoulli{}, 2 * at::randn({n, 1}, at::kDouble), coins, {at::Tensor(), none, values({-0.25})}},
      {"poisson",
       Poisson{},
       at::randn({n, 2}, at::kDouble),
       at::randint(0, 6, {n, 2}, at::kDouble),
       {at::Tensor(), none, none}},
  };
}

/// log p(y | f) per example by plain formulas, differentiable by autograd.
inline at::Tensor plain_log_likelihood(const LikelihoodCase& one, const at::Tensor& f) {
  if (std::holds_alternative<Gaussian>(one.likelihood)) {
    const at::Tensor sigma = one.hyperparameters.log_noise.exp();
    return (-(f - one.targets).pow(2) / (2 * sigma * sigma) - sigma.log() - 0.5 * std::log(2 * M_PI)).sum(1);
  }
  if (std::holds_alternative<Poisson>(one.likelihood)) {
    return (one.targets * f - f.exp() - at::lgamma(one.targets + 1)).sum(1);
  }
  const at::Tensor u = f / one.hyperparameters.log_temperature.exp();
  if (std::holds_alternative<Bernoulli>(one.likelihood)) {
    return (one.targets * u - at::log1p(u.exp())).sum(1);
  }
  return u.gather(1, one.targets.unsqueeze(1)).squeeze(1) - u.exp().sum(1).log();
}

/// R Rᵀ and R Ṙᵀ + Ṙ Rᵀ, [N, C, C].
inline at::Tensor square(const at::Tensor& root) { return at::bmm(root, root.transpose(1, 2)); }
inline at::Tensor cross(const at::Tensor& root, const at::Tensor& derivative) {
  const at::Tensor product = at::bmm(root, derivative.transpose(1, 2));
  return product + product.transpose(1, 2);
}

/// The case's hyperparameters with the m-th root hyperparameter moved by `shift`.
inline Hyperparameters moved(const LikelihoodCase& one, int64_t m, double shift) {
  Hyperparameters result = one.hyperparameters.clone();
  at::Tensor& moving = result.log_temperature.numel() > 0 ? result.log_temperature : result.log_noise;
  moving[m] += shift;
  return result;
}

/// Five-point central difference of a tensor function of one number at 0.
inline at::Tensor finite_difference(const std::function<at::Tensor(double)>& function, double h = 1e-3) {
  return (8 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12 * h);
}

inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace ockham::testing
