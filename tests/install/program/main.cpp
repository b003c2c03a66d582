// A separate program against the installed tree: a small network from plain tensors, and the evidence of it.
#include <ATen/ATen.h>
#include <ockham/ockham.h>

#include <cmath>
#include <cstdio>

int main() {
  ockham::set_threads(ockham::available_cpus());
  const ockham::PlatformReport platform = ockham::check_platform();
  std::printf("libtorch %s, %s\n", platform.libtorch_version.c_str(), platform.blas_library.c_str());
  at::Generator random = ockham::random_stream({0});

  const at::Tensor inputs = at::randn({20, 3}, random, at::kDouble);
  const at::Tensor targets = at::randn({20, 1}, random, at::kDouble);
  at::Tensor weight = at::randn({1, 3}, random, at::kDouble).requires_grad_();
  at::Tensor bias = at::zeros({1}, at::kDouble).requires_grad_();
  const ockham::Network network({{"weight", weight}, {"bias", bias}},
                                [=](const at::Tensor& x) { return at::linear(x, weight, bias); });

  const ockham::Likelihood likelihood = ockham::Gaussian{};
  const ockham::Prior prior = ockham::Prior::layerwise(network.layout());
  ockham::Hyperparameters hyperparameters = ockham::default_likelihood_hyperparameters(likelihood, 1);
  hyperparameters.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  const ockham::LaplaceFit fit =
      ockham::fit_laplace({network, likelihood, prior, hyperparameters}, ockham::Dataset(inputs, targets), {});
  const double value = ockham::evidence(fit, hyperparameters).value;
  std::printf("log marginal likelihood %.6f\n", value);
  return std::isfinite(value) ? 0 : 1;
}
