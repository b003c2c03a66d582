// What the evidence must not depend on: how the data are cut into batches, their order, the threads, the type of the
// network's numbers up to rounding, and two ways of writing down the same model.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "ockham/base/platform.h"
#include "ockham/evidence/evidence.h"
#include "ockham/network/architectures.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::relative_difference;
using testing::seeded;
using testing::SmallProblem;

constexpr double kTolerance = 1e-10;

/// Two convolutions and a linear layer on [N, 1, 6, 6]; more weights than rows, where the MLP has more rows than
/// weights.
Network small_convnet(int64_t outputs, at::ScalarType type) {
  std::vector<std::pair<std::string, at::Tensor>> p = {
      {"conv1.weight", 0.4 * seeded({3, 1, 3, 3}, 51)},   {"conv1.bias", 0.1 * seeded({3}, 52)},
      {"conv2.weight", 0.2 * seeded({4, 3, 3, 3}, 53)},   {"conv2.bias", 0.1 * seeded({4}, 54)},
      {"output.weight", 0.2 * seeded({outputs, 36}, 55)}, {"output.bias", 0.1 * seeded({outputs}, 56)}};
  for (auto& [name, tensor] : p) tensor = tensor.to(type).set_requires_grad(true);
  return Network(p, [p](const at::Tensor& x) {
    const at::Tensor first = at::avg_pool2d(at::relu(at::conv2d(x, p[0].second, p[1].second, 1, 1)), 2);
    const at::Tensor second = at::tanh(at::conv2d(first, p[2].second, p[3].second, 1, 1));
    return at::linear(second.flatten(1), p[4].second, p[5].second);
  });
}

std::vector<SmallProblem> problems(at::ScalarType type = at::kDouble) {
  std::vector<SmallProblem> result;
  const at::Tensor none = at::zeros({0}, at::kDouble);
  for (bool images : {false, true}) {
    const int64_t n = images ? 30 : 150;
    const at::Tensor inputs = (images ? seeded({n, 1, 6, 6}, 57) : seeded({n, 5}, 58)).to(type);
    const auto network = [&](int64_t outputs) {
      return images ? small_convnet(outputs, type) : make_architecture("mlp:24,act=tanh", {5}, outputs, type, 59);
    };
    const std::string name = images ? "cnn" : "mlp";
    result.push_back({name + " gaussian",
                      Gaussian{},
                      network(2),
                      {inputs, seeded({n, 2}, 60).to(type)},
                      {{}, at::full({1}, -0.4, at::kDouble), none}});
    result.push_back({name + " categorical",
                      Categorical{},
                      network(3),
                      {inputs, at::arange(n).remainder(3)},
                      {{}, none, at::full({1}, 0.35, at::kDouble)}});
  }
  return result;
}

/// Calls `run` for every structure (and Kronecker rule) of GGN and EF.
void for_each_setting(const std::function<void(const LaplaceOptions&)>& run) {
  for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
    for (Structure structure : {Structure::full, Structure::block, Structure::kronecker, Structure::diagonal}) {
      for (KroneckerRule rule : {KroneckerRule::expand, KroneckerRule::reduce, KroneckerRule::paper}) {
        if (structure != Structure::kronecker && rule != KroneckerRule::expand) continue;
        SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", structure " +
                     std::to_string(static_cast<int>(structure)) + ", rule " + std::to_string(static_cast<int>(rule)));
        LaplaceOptions options;
        options.curvature.kind = kind;
        options.curvature.structure = structure;
        options.curvature.kronecker_rule = rule;
        options.curvature.root_derivatives = true;
        options.curvature.likelihood_gradient = true;
        options.curvature.verify = false;  // many refits of the same network
        run(options);
      }
    }
  }
}

Evidence evidence_of(const SmallProblem& problem, const LaplaceOptions& options, const Dataset& data) {
  const Prior prior = Prior::layerwise(problem.network.layout());
  const Hyperparameters values = problem.at(prior);
  return evidence(fit_laplace({problem.network, problem.likelihood, prior, values}, data, options), values,
                  {options.curvature.likelihood_gradient});
}

void expect_same(const Evidence& actual, const Evidence& expected) {
  EXPECT_LT(relative_difference(actual.value, expected.value), kTolerance);
  EXPECT_LT(relative_difference(actual.log_likelihood, expected.log_likelihood), kTolerance);
  EXPECT_LT(relative_difference(actual.log_det, expected.log_det), kTolerance);
  EXPECT_LT(relative_difference(actual.correction, expected.correction), kTolerance);
  EXPECT_LT(relative_difference(actual.gradient.log_prior_precision, expected.gradient.log_prior_precision),
            kTolerance);
  EXPECT_LT(relative_difference(actual.gradient.log_noise, expected.gradient.log_noise), kTolerance);
  EXPECT_LT(relative_difference(actual.gradient.log_temperature, expected.gradient.log_temperature), kTolerance);
}

/// One thread unless a test says otherwise: threads that wait for each other cost ten times the work of such small
/// networks. The threads are given back after every test.
class Invariance : public ::testing::Test {
 protected:
  Invariance() { set_threads(1); }
  ~Invariance() override { set_threads(threads_before_); }

 private:
  const int threads_before_ = check_platform().aten_threads;
};

TEST_F(Invariance, BatchSizeAndThreads) {
  for (const SmallProblem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    for_each_setting([&](LaplaceOptions options) {
      set_threads(1);
      options.curvature.batch_size = problem.data.size();
      const Evidence expected = evidence_of(problem, options, problem.data);
      ASSERT_EQ(expected.gradient.log_noise.numel() + expected.gradient.log_temperature.numel(), 1);
      options.curvature.batch_size = 7;  // does not divide the number of examples
      expect_same(evidence_of(problem, options, problem.data), expected);
      options.curvature.batch_size = 1000;
      set_threads(2);
      expect_same(evidence_of(problem, options, problem.data), expected);
    });
  }
}

TEST_F(Invariance, TheMonteCarloFisherDrawsTheSameForEveryBatchSize) {
  for (const SmallProblem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    LaplaceOptions options;
    options.curvature.kind = CurvatureKind::mc_fisher;
    options.curvature.mc_samples = 2;
    options.curvature.root_derivatives = true;
    options.curvature.likelihood_gradient = true;
    options.curvature.batch_size = problem.data.size();
    const Evidence expected = evidence_of(problem, options, problem.data);
    options.curvature.batch_size = 7;
    expect_same(evidence_of(problem, options, problem.data), expected);
  }
}

TEST_F(Invariance, OrderOfTheExamples) {
  for (const SmallProblem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    const at::Tensor order = at::randperm(problem.data.size(), random_stream({61}), at::kLong);
    const Dataset shuffled(problem.data.inputs().index_select(0, order), problem.data.targets().index_select(0, order));
    for_each_setting([&](LaplaceOptions options) {
      options.curvature.batch_size = 64;
      expect_same(evidence_of(problem, options, shuffled), evidence_of(problem, options, problem.data));
    });
  }
}

// For the Kronecker structure too: with 1/N in the input factor only, twice the data leave it as it is and double the
// gradient factor. (Damping splits the weight between the factors and is another approximation.)
TEST_F(Invariance, ALikelihoodWeightOfTwoIsTheDataGivenTwice) {
  for (const SmallProblem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    const Dataset twice(at::cat({problem.data.inputs(), problem.data.inputs()}),
                        at::cat({problem.data.targets(), problem.data.targets()}));
    for_each_setting([&](LaplaceOptions options) {
      const Evidence expected = evidence_of(problem, options, twice);
      const Evidence once = evidence_of(problem, options, problem.data);
      options.likelihood_weight = 2;
      expect_same(evidence_of(problem, options, problem.data), expected);
      EXPECT_GT(std::abs(once.value - expected.value), 1);
    });
  }
}

/// The same parameters, with a logit of zero put before the outputs: softmax(0, f) = (1 - sigmoid f, sigmoid f).
Network with_zero_logit(const Network& network) {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (size_t i = 0; i < network.layout().count(); ++i) {
    named.emplace_back(network.layout()[i].name, network.parameters()[i]);
  }
  return Network(named, [network](const at::Tensor& inputs) {
    const at::Tensor logit = network.forward(inputs);
    return at::cat({at::zeros_like(logit), logit}, 1);
  });
}

TEST_F(Invariance, OneLogitIsTwoClassesWithAFrozenZero) {
  const at::Tensor none = at::zeros({0}, at::kDouble), temperature = at::full({1}, -0.25, at::kDouble);
  const std::vector<std::pair<Network, at::Tensor>> networks = {
      {make_architecture("mlp:24,act=tanh", {5}, 1, at::kDouble, 62), seeded({60, 5}, 63)},
      {small_convnet(1, at::kDouble), seeded({30, 1, 6, 6}, 64)}};
  for (const auto& [network, inputs] : networks) {
    const Dataset data(inputs, (at::arange(inputs.size(0)).remainder(3) == 0).to(at::kLong));
    const SmallProblem one{"one logit", Bernoulli{}, network, data, {{}, none, temperature}};
    const SmallProblem two{"two logits", Categorical{}, with_zero_logit(network), data, {{}, none, temperature}};
    for_each_setting([&](const LaplaceOptions& options) {
      expect_same(evidence_of(one, options, data), evidence_of(two, options, data));
    });
  }
}

// The same weights and data, first rounded to float32, in both types. Rows are float32, sums and decompositions
// float64.
TEST_F(Invariance, Float32IsFloat64UpToRounding) {
  const std::vector<SmallProblem> single = problems(at::kFloat), exact = problems();
  for (size_t i = 0; i < single.size(); ++i) {
    SCOPED_TRACE(single[i].name);
    const SmallProblem& problem = single[i];
    exact[i].network.set_flat_parameters(problem.network.flat_parameters());
    const at::Tensor targets = problem.data.targets();
    const Dataset data(problem.data.inputs().to(at::kDouble),
                       targets.is_floating_point() ? targets.to(at::kDouble) : targets);
    double largest = 0, largest_gradient = 0;
    for_each_setting([&](LaplaceOptions options) {
      options.curvature.likelihood_gradient = false;
      const Evidence actual = evidence_of(problem, options, problem.data);
      const Evidence expected = evidence_of(exact[i], options, data);
      const double difference = relative_difference(actual.value, expected.value);
      EXPECT_LT(difference, 1e-4);
      EXPECT_GT(difference, 0) << "the network did not run in float32";
      largest = std::max(largest, difference);
      largest_gradient = std::max(largest_gradient, relative_difference(actual.gradient.log_prior_precision,
                                                                        expected.gradient.log_prior_precision));
    });
    EXPECT_LT(largest_gradient, 1e-4);
    std::printf("%s: float32 differs from float64 by at most %.1e of the evidence, %.1e of its gradient\n",
                problem.name.c_str(), largest, largest_gradient);
    std::string key = problem.name;
    std::replace(key.begin(), key.end(), ' ', '_');
    ::testing::Test::RecordProperty(key, fmt::format("{:.1e}", largest));
  }
}

}  // namespace
}  // namespace ockham
