// How often the interval of an estimated log determinant covers the exact one, at P = 5,000. By hand, in a few minutes:
//   build/tests/evidence_tests --gtest_also_run_disabled_tests --gtest_filter='*EstimatedCoverage*'
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ockham/base/random.h"
#include "ockham/evidence/evidence.h"
#include "ockham/network/architectures.h"
#include "ockham/train/train_online.h"

namespace ockham {
namespace {

constexpr int64_t kExamples = 1000, kFeatures = 10, kSeeds = 100;

at::Tensor normal(std::vector<int64_t> shape, uint64_t seed) {
  return at::randn(shape, random_stream({seed}), at::kDouble);
}

/// A network 10-64-64-1 of 4,929 weights, trained on what another one of its kind gives, with noise.
struct Trained {
  Trained()
      : network(make_architecture("mlp:64-64,act=tanh", {kFeatures}, 1, at::kFloat, 1)),
        model{network, Gaussian{}, Prior::layerwise(network.layout()), {}},
        data(normal({kExamples, kFeatures}, 2), at::zeros({kExamples, 1})) {
    const at::NoGradGuard no_gradients;
    const Network teacher = make_architecture("mlp:64-64,act=tanh", {kFeatures}, 1, at::kDouble, 3);
    const at::Tensor clean = teacher.forward(2 * data.inputs());
    const at::Tensor targets = clean / clean.std() + 0.1 * normal({kExamples, 1}, 4);
    data = Dataset(data.inputs().to(at::kFloat), targets.to(at::kFloat));
    model.hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 1);
    model.hyperparameters.log_prior_precision = at::zeros({model.prior.size()}, at::kDouble);
    model.hyperparameters.log_noise.fill_(-1);
  }
  void train() {
    const at::AutoGradMode with_gradients(true);
    OnlineOptions options;
    options.epochs = 60;
    options.frequency = 20;
    options.hyper.steps = 30;
    options.map.batch_size = 128;
    options.optimiser.learning_rate = 5e-3;
    options.laplace.curvature.structure = Structure::kronecker;
    model.hyperparameters = train_online(model, data, options).best.hyperparameters;
  }
  Network network;
  Model model;
  Dataset data;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(EstimatedCoverage, DISABLED_IntervalsOfAHundredSeeds) {
  Trained trained;
  trained.train();
  LaplaceOptions options;
  options.curvature.structure = Structure::full;
  const Hyperparameters& values = trained.model.hyperparameters;
  const Evidence exact = evidence(fit_laplace(trained.model, trained.data, options), values);
  fmt::print("{} weights, {} examples: log|H| {:.3f}, noise {:.3f}\n", trained.network.layout().total(), kExamples,
             exact.log_det, std::exp(values.log_noise.item<double>()));
  for (Structure preconditioner : {Structure::kronecker, Structure::diagonal}) {
    options.slq = SlqOptions{10, 30, preconditioner, 0};
    const auto at_seed = [&](uint64_t seed, int64_t steps) {
      options.slq->seed = seed;
      options.slq->steps = steps;
      return evidence(fit_laplace(trained.model, trained.data, options), values);
    };
    const auto start = std::chrono::steady_clock::now();
    int64_t covered = 0;
    double widest = 0, error = 0, square = 0, bias = 0, slope = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Evidence found = at_seed(seed, 30);
      const double off = found.log_det - exact.log_det;
      covered += std::abs(off) <= found.log_det_error->half_width ? 1 : 0;
      widest = std::max(widest, found.log_det_error->half_width);
      error += off / kSeeds;
      square += off * off / kSeeds;
      bias += found.log_det_error->lanczos_bias / kSeeds;
      slope = std::max(
          slope, (found.gradient.log_prior_precision - exact.gradient.log_prior_precision).abs().max().item<double>());
    }
    const double seconds = seconds_since(start) / kSeeds;
    const double doubled = at_seed(0, 30).log_det - at_seed(0, 60).log_det;
    fmt::print(
        "{}: {} of {} intervals cover; half-width at most {:.2f} ({:.3f} % of log|H|); error {:.2f} on average, {:.2f} "
        "root mean square; Lanczos bias {:.4f} by doubling the steps, {:.4f} from half to all; gradient at most {:.2f} "
        "off, largest entry {:.2f}; {:.2f} s each\n",
        preconditioner == Structure::kronecker ? "kron" : "diag", covered, kSeeds, widest,
        100 * widest / std::abs(exact.log_det), error, std::sqrt(square), doubled, bias, slope,
        exact.gradient.log_prior_precision.abs().max().item<double>(), seconds);
    if (preconditioner == Structure::kronecker) {
      EXPECT_GE(covered, 90);
      EXPECT_LT(widest, 0.01 * std::abs(exact.log_det));
    }
  }
}

}  // namespace
}  // namespace ockham
