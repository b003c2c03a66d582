#include "ockham/train/map_epoch.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <optional>

#include "ockham/network/architectures.h"
#include "ockham/observe/plain_mlp.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

// ‖∇ (-w log p(D|θ) - log p(θ))‖ by autograd through plain formulas.
double reference_norm(const Network& network, const at::Tensor& x, const at::Tensor& y, double noise,
                      const at::Tensor& precisions, double weight) {
  at::Tensor loss = weight * (network.forward(x) - y).square().sum() / (2 * noise * noise);
  int64_t first = 0;
  for (const at::Tensor& parameter : network.parameters()) {
    loss = loss + 0.5 * (precisions.narrow(0, first, parameter.numel()) * parameter.reshape(-1).square()).sum();
    first += parameter.numel();
  }
  double squared = 0;
  for (const at::Tensor& gradient : torch::autograd::grad({loss}, network.parameters()))
    squared += gradient.square().sum().item<double>();
  return std::sqrt(squared);
}

TEST(MapGradientNorm, EqualsAutogradForEveryPrior) {
  const Network network = make_architecture("mlp:5,act=tanh", {3}, 2, at::kDouble, 1);
  const at::Tensor x = at::randn({11, 3}, random_stream({2}), at::kDouble),
                   y = at::randn({11, 2}, random_stream({3}), at::kDouble);
  for (const Prior& prior : {Prior::scalar(network.layout()), Prior::layerwise(network.layout()),
                             Prior::ard(network.layout()), Prior::diagonal(network.layout())}) {
    Hyperparameters hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 2);
    hyperparameters.log_noise.fill_(std::log(0.3));
    hyperparameters.log_prior_precision = at::randn({prior.size()}, random_stream({4}), at::kDouble);
    const at::Tensor precisions = prior.expand(hyperparameters.log_prior_precision).exp();
    for (int64_t batch_size : {0, 4}) {
      MapOptions options;
      options.batch_size = batch_size;
      options.likelihood_weight = 1.5;
      const double norm = map_gradient_norm({network, Gaussian{}, prior, hyperparameters}, Dataset(x, y), options);
      const double expected = reference_norm(network, x, y, 0.3, precisions, 1.5);
      EXPECT_NEAR(norm, expected, 1e-12 * expected);
    }
  }
}

Model scalar_model(const Network& network) {
  const Prior prior = Prior::scalar(network.layout());
  Hyperparameters hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 1);
  hyperparameters.log_prior_precision = at::zeros({1}, at::kDouble);
  return {network, Gaussian{}, prior, hyperparameters};
}

// The weights stay those before the batch that broke down, by hand and by autograd.
TEST(MapEpoch, NamesTheBatchWhoseLossIsNotFinite) {
  const Network network = make_architecture("mlp:4", {3}, 1, at::kFloat, 1);
  at::Tensor x = at::randn({20, 3}, random_stream({5}), at::kFloat);
  x[13][0] = 1e30;  // in the third batch; its square overflows
  const Dataset data(x, at::zeros({20, 1}, at::kFloat));
  MapOptions options;
  options.batch_size = 6;
  options.shuffle = false;
  for (const bool by_hand : {false, true}) {
    std::optional<HandmadePasses> passes;
    if (by_hand) passes.emplace(network, x);
    ASSERT_EQ(HandmadePasses::of(network) != nullptr, by_hand);
    Optimiser optimiser(network.parameters(), {});
    testing::expect_error(ErrorKind::numerical, {"the loss is not finite in batch 3 of 4", "--lr"},
                          [&] { map_epoch(scalar_model(network), data, options, optimiser, random_stream({1})); });
    EXPECT_TRUE(network.flat_parameters().isfinite().all().item<bool>());
  }
}

TEST(MapEpoch, NamesTheParameterWhoseGradientIsNotFinite) {
  const at::Tensor fine = at::ones({1, 3}, at::kDouble).set_requires_grad(true);
  const at::Tensor root = at::zeros({1}, at::kDouble).set_requires_grad(true);  // the slope of √x at 0
  const Network network({{"fine", fine}, {"root", root}},
                        [=](const at::Tensor& x) { return at::linear(x, fine) + root.sqrt(); });
  const at::Tensor x = at::randn({6, 3}, random_stream({5}), at::kDouble);
  Optimiser optimiser(network.parameters(), {});
  testing::expect_error(ErrorKind::numerical, {"the gradient of 'root' is not finite", "--lr"}, [&] {
    map_epoch(scalar_model(network), Dataset(x, at::zeros({6, 1}, at::kDouble)), {}, optimiser, random_stream({1}));
  });
  EXPECT_TRUE(fine.detach().equal(at::ones({1, 3}, at::kDouble)));
}

TEST(MapEpoch, ShufflesByItsStreamOnly) {
  const at::Tensor x = at::randn({20, 3}, random_stream({5}), at::kDouble),
                   y = at::randn({20, 1}, random_stream({6}), at::kDouble);
  const auto train = [&](uint64_t key) {
    const Network network = make_architecture("mlp:4", {3}, 1, at::kDouble, 1);
    const Prior prior = Prior::scalar(network.layout());
    Hyperparameters hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 1);
    hyperparameters.log_prior_precision = at::zeros({1}, at::kDouble);
    Optimiser optimiser(network.parameters(), {});
    MapOptions options;
    options.batch_size = 6;
    map_epoch({network, Gaussian{}, prior, hyperparameters}, Dataset(x, y), options, optimiser, random_stream({key}));
    return network.flat_parameters();
  };
  EXPECT_TRUE(train(1).equal(train(1)));
  EXPECT_FALSE(train(1).equal(train(2)));
}

// With w and δ = w δ' the loss is w times the one of weight 1 and δ': the same steps of SGD, divided by w.
TEST(MapEpoch, TheLikelihoodWeightDoesNotChangeTheRate) {
  const at::Tensor x = at::randn({20, 3}, random_stream({5}), at::kDouble),
                   y = at::randn({20, 1}, random_stream({6}), at::kDouble);
  const auto train = [&](double weight) {
    const Network network = make_architecture("mlp:4", {3}, 1, at::kDouble, 1);
    const Prior prior = Prior::scalar(network.layout());
    Hyperparameters hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 1);
    hyperparameters.log_prior_precision = at::full({1}, std::log(0.7 * weight), at::kDouble);
    OptimiserOptions sgd;
    sgd.kind = OptimiserKind::sgd;
    sgd.learning_rate = 0.1;
    Optimiser optimiser(network.parameters(), sgd);
    MapOptions options;
    options.likelihood_weight = weight;
    map_epoch({network, Gaussian{}, prior, hyperparameters}, Dataset(x, y), options, optimiser, random_stream({1}));
    return network.flat_parameters();
  };
  EXPECT_LT((train(5) - train(1)).abs().max().item<double>(), 1e-12);
}

// A plain step of SGD with momentum 0.9 diverges where learning rate · δ / N is above 3.8; here it is 5e6.
TEST(MapEpoch, NoPrecisionMakesSgdDiverge) {
  const int64_t examples = 20;
  const at::Tensor x = at::randn({examples, 3}, random_stream({5}), at::kDouble),
                   y = at::randn({examples, 1}, random_stream({6}), at::kDouble);
  const Network network = make_architecture("linear", {3}, 1, at::kDouble, 1);
  for (const Prior& prior : {Prior::layerwise(network.layout()), Prior::diagonal(network.layout())}) {
    Hyperparameters hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 1);
    at::Tensor precisions = at::full({prior.size()}, 2.0, at::kDouble);
    precisions[0] = 1e9;  // the weights of one group, and one weight of the other
    hyperparameters.log_prior_precision = precisions.log();
    OptimiserOptions sgd;
    sgd.kind = OptimiserKind::sgd;
    sgd.learning_rate = 0.1;
    network.set_flat_parameters(at::ones({4}, at::kDouble));
    Optimiser optimiser(network.parameters(), sgd);
    const Model model{network, Gaussian{}, prior, hyperparameters};
    for (uint64_t epoch = 0; epoch < 500; ++epoch)
      map_epoch(model, Dataset(x, y), {}, optimiser, random_stream({epoch}));
    // The mode of a linear model in closed form: (XᵀX + Δ)⁻¹ Xᵀy.
    const at::Tensor design = at::cat({x, at::ones({examples, 1}, at::kDouble)}, 1);
    const at::Tensor hessian = at::mm(design.t(), design) + at::diag(prior.expand(precisions));
    const at::Tensor mode = at::linalg_solve(hessian, at::mv(design.t(), y.squeeze(1)));
    EXPECT_LT((network.flat_parameters() - mode).abs().max().item<double>(), 1e-10) << network.flat_parameters();
  }
}

}  // namespace
}  // namespace ockham
