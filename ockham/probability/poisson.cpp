#include <ATen/ATen.h>

#include <cmath>

#include "ockham/probability/each_likelihood.h"

namespace ockham::each {

DataTerm data_term(const Poisson&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&) {
  const at::Tensor counts = targets.to(at::kDouble);
  return {(counts * outputs - outputs.exp() - at::lgamma(counts + 1)).sum().item<double>(), 0};
}

at::Tensor gradient(const Poisson&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&) {
  return outputs.exp() - targets;
}

Tensors gradient_derivatives(const Poisson&, const at::Tensor&, const at::Tensor&, const Hyperparameters&) {
  return {};
}

OutputRoot exact_root(const Poisson&, const at::Tensor& outputs, const Hyperparameters&, bool) {
  return {at::diag_embed((0.5 * outputs).exp()), {}};
}

OutputRoot sampled_root(const Poisson&, const at::Tensor& outputs, const Hyperparameters&, const RootOptions& options,
                        at::Generator generator) {
  const at::Tensor rate = outputs.exp().unsqueeze(2);
  const at::Tensor drawn = at::poisson(rate.expand({-1, -1, options.mc_samples}).contiguous(), generator);
  return {(rate - drawn) / std::sqrt(static_cast<double>(options.mc_samples)), {}};
}

}  // namespace ockham::each
