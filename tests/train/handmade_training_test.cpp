// Training a plain MLP by hand equals training it by autograd.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/network/architectures.h"
#include "ockham/observe/plain_mlp.h"
#include "ockham/train/map_epoch.h"
#include "ockham/train/train_online.h"
#include "tests/support/finite_differences.h"
#include "tests/support/likelihood_cases.h"

namespace ockham {
namespace {

using testing::likelihood_cases;
using testing::LikelihoodCase;
using testing::relative_difference;

struct Trained {
  std::vector<double> losses;
  at::Tensor theta;
  double gradient_norm = 0;
};

Trained train(const LikelihoodCase& one, const std::string& spec, at::ScalarType type, int64_t batch_size,
              bool by_hand) {
  const Network network = make_architecture(spec, {4}, one.outputs, type, 1);
  const at::Tensor inputs = at::randn({23, 4}, random_stream({6}), at::kDouble).to(type);
  const Dataset data(inputs, prepare_targets(one.likelihood, one.targets, one.outputs, type));
  const Prior prior = Prior::ard(network.layout());
  Hyperparameters hyperparameters = default_likelihood_hyperparameters(one.likelihood, one.outputs);
  hyperparameters.log_prior_precision = at::randn({prior.size()}, random_stream({7}), at::kDouble);
  const Model model{network, one.likelihood, prior, hyperparameters};
  std::optional<HandmadePasses> passes;
  if (by_hand) {
    passes.emplace(network, inputs);
    EXPECT_NE(HandmadePasses::of(network), nullptr);
  }
  OptimiserOptions adam;
  adam.learning_rate = 0.01;
  Optimiser optimiser(network.parameters(), adam);
  MapOptions options;
  options.batch_size = batch_size;
  Trained result;
  for (uint64_t epoch = 0; epoch < 8; ++epoch)
    result.losses.push_back(map_epoch(model, data, options, optimiser, random_stream({epoch})));
  result.theta = network.flat_parameters();
  result.gradient_norm = map_gradient_norm(model, data, options);
  return result;
}

void expect_same(const Trained& a, const Trained& b, double tolerance) {
  EXPECT_LT(relative_difference(at::tensor(a.losses, at::kDouble), at::tensor(b.losses, at::kDouble)), tolerance);
  EXPECT_LT(relative_difference(a.theta, b.theta), tolerance);
  EXPECT_LT(relative_difference(a.gradient_norm, b.gradient_norm), 10 * tolerance);
}

TEST(HandmadeTraining, EqualsAutogradForEveryLikelihood) {
  for (const LikelihoodCase& one : likelihood_cases(23)) {
    SCOPED_TRACE(name_of(one.likelihood));
    for (const int64_t batch_size : {0, 10}) {
      const auto both = [&](at::ScalarType type, double tolerance) {
        expect_same(train(one, "mlp:6-5,act=tanh", type, batch_size, true),
                    train(one, "mlp:6-5,act=tanh", type, batch_size, false), tolerance);
      };
      both(at::kDouble, 1e-10);
      both(at::kFloat, 2e-4);
    }
  }
}

TEST(HandmadeTraining, EqualsAutogradForEveryActivation) {
  for (const char* activation :
       {"relu", "gelu", "silu", "sigmoid", "elu", "selu", "softplus", "leaky_relu", "identity"}) {
    SCOPED_TRACE(activation);
    const std::string spec = std::string("mlp:6,act=") + activation;
    expect_same(train(likelihood_cases(23)[0], spec, at::kDouble, 0, true),
                train(likelihood_cases(23)[0], spec, at::kDouble, 0, false), 1e-10);
  }
}

// The same operators, but one more that is no part of a plain MLP: the general way is taken.
Network disguised(const Network& network) {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (size_t i = 0; i < network.parameters().size(); ++i)
    named.emplace_back(network.layout()[i].name, network.parameters()[i]);
  return Network(std::move(named), [network](const at::Tensor& x) { return network.forward(x) * 1; });
}

TEST(HandmadeTraining, TheOnlineAlgorithmTakesTheSameWay) {
  const at::Tensor inputs = at::randn({150, 12}, random_stream({1}), at::kDouble);
  const Dataset data(inputs, inputs.sin().sum(1, /*keepdim=*/true));
  for (const Structure structure : {Structure::full, Structure::kronecker, Structure::diagonal}) {
    std::vector<OnlineResult> results;
    for (const bool plain : {true, false}) {
      const Network network = make_architecture("mlp:16,act=tanh", {12}, 1, at::kDouble, 1);  // 225 weights, 150 rows
      const Prior prior = Prior::layerwise(network.layout());
      Hyperparameters hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 1);
      hyperparameters.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
      OnlineOptions options;
      options.epochs = 20;
      options.frequency = 2;
      options.hyper.steps = 2;
      options.laplace.curvature.structure = structure;
      results.push_back(
          train_online({plain ? network : disguised(network), Gaussian{}, prior, hyperparameters}, data, options));
    }
    ASSERT_EQ(results[0].state.passes.size(), results[1].state.passes.size());
    for (size_t i = 0; i < results[0].state.passes.size(); ++i) {
      EXPECT_LT(relative_difference(results[0].state.passes[i].log_evidence, results[1].state.passes[i].log_evidence),
                1e-9);
    }
    EXPECT_LT(relative_difference(results[0].best.mode, results[1].best.mode), 1e-8);
    EXPECT_LT(relative_difference(results[0].gradient_norm, results[1].gradient_norm), 1e-6);
  }
}

}  // namespace
}  // namespace ockham
