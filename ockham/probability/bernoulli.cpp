#include <ATen/ATen.h>

#include <cmath>

#include "ockham/probability/each_likelihood.h"

namespace ockham::each {
namespace {

/// (p - y) / T and its derivative in log T with y held; u = f / T.
at::Tensor gradient_at(const at::Tensor& scaled, const at::Tensor& targets, double temperature) {
  return (scaled.sigmoid() - targets) / temperature;
}

at::Tensor gradient_derivative_at(const at::Tensor& scaled, const at::Tensor& targets, double temperature) {
  const at::Tensor variance = scaled.sigmoid() * scaled.neg().sigmoid();
  return -(scaled * variance) / temperature - gradient_at(scaled, targets, temperature);
}

}  // namespace

DataTerm data_term(const Bernoulli&, const at::Tensor& outputs, const at::Tensor& targets,
                   const Hyperparameters& hyperparameters) {
  const at::Tensor scaled = outputs / temperature_of(hyperparameters);
  const at::Tensor sign = 2 * targets - 1;
  return {at::log_sigmoid(sign * scaled).sum().item<double>(),
          (scaled * (scaled.sigmoid() - targets)).sum().item<double>()};
}

at::Tensor gradient(const Bernoulli&, const at::Tensor& outputs, const at::Tensor& targets,
                    const Hyperparameters& hyperparameters) {
  const double temperature = temperature_of(hyperparameters);
  return gradient_at(outputs / temperature, targets, temperature);
}

Tensors gradient_derivatives(const Bernoulli&, const at::Tensor& outputs, const at::Tensor& targets,
                             const Hyperparameters& hyperparameters) {
  const double temperature = temperature_of(hyperparameters);
  return {gradient_derivative_at(outputs / temperature, targets, temperature)};
}

OutputRoot exact_root(const Bernoulli&, const at::Tensor& outputs, const Hyperparameters& hyperparameters,
                      bool derivatives) {
  const double temperature = temperature_of(hyperparameters);
  const at::Tensor scaled = outputs / temperature;
  const at::Tensor yes = scaled.sigmoid(), no = scaled.neg().sigmoid();
  const at::Tensor root = (yes.sqrt() * no.sqrt()).div_(temperature);
  OutputRoot result{root.unsqueeze(2), {}};
  if (derivatives) result.derivatives = {(root * (0.5 * scaled * (yes - no) - 1)).unsqueeze(2)};
  return result;
}

OutputRoot sampled_root(const Bernoulli&, const at::Tensor& outputs, const Hyperparameters& hyperparameters,
                        const RootOptions& options, at::Generator generator) {
  const double temperature = temperature_of(hyperparameters);
  const at::Tensor scaled = (outputs / temperature).unsqueeze(2);  // [N, 1, 1]
  const at::Tensor probability = scaled.sigmoid();
  const at::Tensor drawn = at::bernoulli(probability.expand({-1, -1, options.mc_samples}).contiguous(), generator);
  const double share = 1 / std::sqrt(static_cast<double>(options.mc_samples));
  OutputRoot result;
  const at::Tensor columns = gradient_at(scaled, drawn, temperature);
  if (options.derivatives) {
    const at::Tensor score =
        scaled * (probability - drawn);  // ∂ log p(drawn) / ∂ log T; why half of it: categorical.cpp
    result.derivatives = {(gradient_derivative_at(scaled, drawn, temperature) + 0.5 * score * columns).mul_(share)};
  }
  result.root = columns * share;
  return result;
}

}  // namespace ockham::each
