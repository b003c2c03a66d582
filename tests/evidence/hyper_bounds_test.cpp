#include "ockham/evidence/hyper_bounds.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/evidence/optimise_hyperparameters.h"
#include "tests/evidence/small_problem.h"

namespace ockham {
namespace {

using testing::linear_network;
using testing::seeded;

Hyperparameters values_of(double precision, double noise, double temperature) {
  const auto one = [](double value) { return at::full({1}, std::log(value), at::kDouble); };
  return {one(precision), one(noise), one(temperature)};
}

TEST(HyperBounds, NamesWhatIsThere) {
  EXPECT_TRUE(reached_bounds(values_of(1e11, 1e-7, 500), {"all"}).empty());
  EXPECT_EQ(describe_bounds({}), "");
  const auto reached = reached_bounds(values_of(1e12, 1e-8, 1e-3), {"all"});
  ASSERT_EQ(reached.size(), 3u);
  EXPECT_EQ(reached[0].hyperparameter, "prior precision of 'all'");
  EXPECT_NEAR(reached[0].bound, 1e12, 1);
  EXPECT_EQ(reached[1].hyperparameter, "noise");
  EXPECT_NEAR(reached[1].bound, 1e-8, 1e-18);
  EXPECT_EQ(reached[2].hyperparameter, "temperature");
  EXPECT_EQ(describe_bounds(reached),
            "the prior precision of 'all' reached its bound of 1e+12, and 2 more reached theirs: the network may do "
            "without these weights");
}

struct Climb {
  HyperResult result;
  std::vector<std::string> groups;
};

Climb climb(const Network& network, const at::Tensor& inputs, const at::Tensor& targets, int64_t steps,
            double step_size) {
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
  start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  LaplaceOptions options;
  options.curvature.structure = Structure::full;
  const LaplaceFit fit = fit_laplace({network, Gaussian{}, prior, start}, Dataset(inputs, targets), options);
  HyperOptions hyper;
  hyper.steps = steps;
  hyper.step_size = step_size;
  HyperState state;
  return {optimise_hyperparameters(fit, start, hyper, state), prior.names()};
}

// Without a bound the noise of an exact fit goes down by a factor e a step, until the evidence is infinite.
TEST(HyperBounds, AnExactFitHasTheSmallestNoise) {
  const at::Tensor inputs = seeded({20, 2}, 1), weight = seeded({1, 2}, 2);
  const Climb climbed = climb(linear_network(weight), inputs, at::linear(inputs, weight), 2000, 1);
  EXPECT_TRUE(std::isfinite(climbed.result.best_evidence));
  const auto reached = reached_bounds(climbed.result.hyperparameters, climbed.groups);
  ASSERT_EQ(reached.size(), 1u);
  EXPECT_EQ(reached[0].hyperparameter, "noise");
  EXPECT_NE(describe_bounds(reached).find("bound of 1e-08"), std::string::npos) << describe_bounds(reached);
}

// A weight that is zero, of an input that says nothing: its precision has no optimum, and a large step goes far.
TEST(HyperBounds, AStepEndsAtTheBound) {
  const at::Tensor weight = at::zeros({1, 1}, at::kDouble), inputs = seeded({20, 1}, 4);
  const Climb climbed = climb(linear_network(weight), inputs, 0.3 * seeded({20, 1}, 5), 3, 100);
  for (const double evidence : climbed.result.evidences) EXPECT_TRUE(std::isfinite(evidence));
  EXPECT_EQ(climbed.result.hyperparameters.log_prior_precision.item<double>(), most_log_prior_precision);
  EXPECT_EQ(reached_bounds(climbed.result.hyperparameters, climbed.groups).front().hyperparameter,
            "prior precision of 'weight'");
}

}  // namespace
}  // namespace ockham
