#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/probability/each_likelihood.h"

namespace ockham::each {
namespace {

at::Tensor inverse_noise(const Gaussian& gaussian, const at::Tensor& outputs, const Hyperparameters& hyperparameters) {
  return log_noise_of(gaussian, hyperparameters, outputs.size(1)).neg().exp().to(outputs.scalar_type());
}

/// ∂/∂log σ_m of a tensor [N, C, ...] whose output c goes as σ_c^exponent: only output m is left.
Tensors derivatives_by_output(const at::Tensor& tensor, double exponent) {
  Tensors derivatives;
  for (int64_t m = 0; m < tensor.size(1); ++m) {
    at::Tensor derivative = at::zeros_like(tensor);
    derivative.select(1, m).copy_(exponent * tensor.select(1, m));
    derivatives.push_back(derivative);
  }
  return derivatives;
}

}  // namespace

at::Tensor log_noise_of(const Gaussian& gaussian, const Hyperparameters& hyperparameters, int64_t outputs) {
  const int64_t expected = gaussian.noise_per_output ? outputs : 1;
  const at::Tensor& log_noise = hyperparameters.log_noise;
  if (log_noise.defined() && log_noise.numel() == expected) return log_noise.reshape({-1});
  throw Error(ErrorKind::usage,
              fmt::format("The Gaussian likelihood needs {} noise value{} (log_noise), but there {} {}.", expected,
                          expected == 1 ? "" : "s, one per output",
                          log_noise.defined() && log_noise.numel() == 1 ? "is" : "are",
                          log_noise.defined() ? log_noise.numel() : 0));
}

DataTerm data_term(const Gaussian& gaussian, const at::Tensor& outputs, const at::Tensor& targets,
                   const Hyperparameters& hyperparameters) {
  const at::Tensor log_noise = log_noise_of(gaussian, hyperparameters, outputs.size(1));
  const at::Tensor terms = ((outputs - targets) * log_noise.neg().exp()).square() + 2 * log_noise + std::log(2 * M_PI);
  return {-0.5 * terms.sum().item<double>(), 0};
}

at::Tensor gradient(const Gaussian& gaussian, const at::Tensor& outputs, const at::Tensor& targets,
                    const Hyperparameters& hyperparameters) {
  const at::Tensor residuals = outputs - targets;
  if (!gaussian.noise_per_output) return residuals;
  return residuals * inverse_noise(gaussian, outputs, hyperparameters).square();
}

Tensors gradient_derivatives(const Gaussian& gaussian, const at::Tensor& outputs, const at::Tensor& targets,
                             const Hyperparameters& hyperparameters) {
  if (!gaussian.noise_per_output) return {};
  return derivatives_by_output(gradient(gaussian, outputs, targets, hyperparameters), -2);
}

OutputRoot exact_root(const Gaussian& gaussian, const at::Tensor& outputs, const Hyperparameters& hyperparameters,
                      bool derivatives) {
  const int64_t examples = outputs.size(0), count = outputs.size(1);
  const at::Tensor diagonal = gaussian.noise_per_output ? inverse_noise(gaussian, outputs, hyperparameters)
                                                        : at::ones({count}, outputs.options());
  OutputRoot result{at::diag(diagonal).expand({examples, count, count}).contiguous(), {}};
  if (derivatives && gaussian.noise_per_output) result.derivatives = derivatives_by_output(result.root, -1);
  return result;
}

OutputRoot sampled_root(const Gaussian& gaussian, const at::Tensor& outputs, const Hyperparameters& hyperparameters,
                        const RootOptions& options, at::Generator generator) {
  OutputRoot result;
  // From uniform draws, which come one after the other: at::randn draws differently from 16 numbers up, and the result
  // would depend on how the data are cut into batches.
  const at::Tensor uniform = at::rand({outputs.size(0), outputs.size(1), options.mc_samples}, generator, at::kDouble);
  result.root = at::erfinv(2 * uniform.add_(0x1p-54) - 1).mul_(std::sqrt(2.0)).to(outputs.scalar_type());
  result.root.mul_(1 / std::sqrt(static_cast<double>(options.mc_samples)));
  if (!gaussian.noise_per_output) return result;
  result.root.mul_(inverse_noise(gaussian, outputs, hyperparameters).unsqueeze(1));
  // The draws are held, the targets f + σ ε move: the gradient goes as 1/σ.
  if (options.derivatives) result.derivatives = derivatives_by_output(result.root, -1);
  return result;
}

}  // namespace ockham::each
