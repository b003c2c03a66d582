// One estimate: trains a small torch::nn network on a noisy sine, asks for its evidence under several curvatures,
// improves its hyperparameters without touching the data again, and predicts with error bars.
#include <torch/nn.h>
#include <torch/optim/adam.h>

#include <cmath>
#include <cstdio>

#include "ockham/base/environment.h"
#include "ockham/network/module_network.h"
#include "ockham/ockham.h"

namespace {

constexpr double kNoise = 0.2;

torch::nn::Sequential make_network() {
  torch::manual_seed(0);
  torch::nn::Sequential network(torch::nn::Linear(1, 20), torch::nn::Tanh(), torch::nn::Linear(20, 20),
                                torch::nn::Tanh(), torch::nn::Linear(20, 1));
  network->to(torch::kDouble);
  return network;
}

// Maximises log p(y | θ) + log p(θ): squared errors over 2σ² and a precision of 1 on every weight.
void train(torch::nn::Sequential& network, const at::Tensor& x, const at::Tensor& y) {
  torch::optim::Adam optimiser(network->parameters(), torch::optim::AdamOptions(1e-2));
  for (int epoch = 0; epoch < 1500; ++epoch) {
    at::Tensor loss = (network->forward(x) - y).square().sum() / (2 * kNoise * kNoise);
    for (const at::Tensor& parameter : network->parameters()) loss = loss + 0.5 * parameter.square().sum();
    optimiser.zero_grad();
    loss.backward();
    optimiser.step();
  }
}

}  // namespace

int main(int, char** argv) {
  ockham::restart_with_tuned_environment(argv);  // OpenBLAS chooses its kernels when it is loaded: see docs/platform.md
  ockham::set_threads(ockham::available_cpus());

  const at::Tensor x = at::linspace(-3, 3, 60, at::kDouble).unsqueeze(1);
  const at::Tensor y = at::sin(x) + kNoise * at::randn({60, 1}, ockham::random_stream({1}), at::kDouble);
  torch::nn::Sequential module = make_network();
  train(module, x, y);

  const ockham::Network network = ockham::make_network(module.ptr());
  const ockham::Dataset data(x, y);
  const ockham::Likelihood likelihood = ockham::Gaussian{};
  const ockham::Prior prior = ockham::Prior::layerwise(network.layout());
  ockham::Hyperparameters hyperparameters = ockham::default_likelihood_hyperparameters(likelihood, 1);
  hyperparameters.log_noise.fill_(std::log(kNoise));
  hyperparameters.log_prior_precision = at::zeros({prior.size()}, at::kDouble);

  std::printf(
      "A noisy sine (noise %.1f): %ld parameters, %ld examples. log evidence = log likelihood + log prior"
      "\n+ (parameters / 2) log 2π - log|H| / 2, with the curvature H in four structures:\n",
      kNoise, static_cast<long>(network.layout().total()), static_cast<long>(data.size()));
  std::printf("%-6s %14s %14s %10s %10s\n", "", "log evidence", "log likelihood", "log prior", "log|H|");
  ockham::LaplaceOptions options;
  for (const auto& [name, structure] :
       {std::pair{"full", ockham::Structure::full}, std::pair{"block", ockham::Structure::block},
        std::pair{"kron", ockham::Structure::kronecker}, std::pair{"diag", ockham::Structure::diagonal}}) {
    options.curvature.structure = structure;
    const auto fit = ockham::fit_laplace({network, likelihood, prior, hyperparameters}, data, options);
    const auto evidence = ockham::evidence(fit, hyperparameters);
    std::printf("%-6s %14.3f %14.3f %10.3f %10.3f\n", name, evidence.value, evidence.log_likelihood, evidence.log_prior,
                evidence.log_det);
  }

  options.curvature.structure = ockham::Structure::full;
  const auto fit = ockham::fit_laplace({network, likelihood, prior, hyperparameters}, data, options);
  ockham::HyperState state;
  ockham::HyperOptions steps;
  const auto better = ockham::optimise_hyperparameters(fit, hyperparameters, steps, state);
  std::printf("\nfull, after %ld steps on the hyperparameters: log evidence %.3f, noise %.3f\n",
              static_cast<long>(steps.steps), better.best_evidence, std::exp(better.best.log_noise.item<double>()));

  const at::Tensor test = at::tensor({-4.5, -1.5, 0.0, 1.5, 4.5}, at::kDouble).unsqueeze(1);
  const auto function = ockham::predict_function(network, fit, better.best, test);
  const auto prediction = ockham::predict_regression(function, better.best);
  std::printf("\n%6s %8s %8s %12s\n", "x", "mean", "sd", "epistemic sd");
  for (int64_t n = 0; n < test.size(0); ++n) {
    std::printf("%6.1f %8.3f %8.3f %12.3f\n", test[n].item<double>(), prediction.mean[n].item<double>(),
                std::sqrt(prediction.total[n].item<double>()), std::sqrt(prediction.epistemic[n].item<double>()));
  }
  return 0;
}
