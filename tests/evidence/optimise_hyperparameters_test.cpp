#include "ockham/evidence/optimise_hyperparameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/evidence/small_problem.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::relative_difference;
using testing::small_problems;
using testing::SmallProblem;

LaplaceFit fit_of(const SmallProblem& problem, const Prior& prior, bool root_derivatives) {
  LaplaceOptions options;
  options.curvature.structure = Structure::kronecker;
  options.curvature.root_derivatives = root_derivatives;
  return fit_laplace({problem.network, problem.likelihood, prior, problem.at(prior)}, problem.data, options);
}

TEST(OptimiseHyperparameters, FollowsAdamByItsDefinition) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::layerwise(problem.network.layout());
  const LaplaceFit fit = fit_of(problem, prior, false);
  HyperOptions options;
  options.steps = 5;
  options.step_size = 0.05;
  HyperState state;
  const HyperResult result = optimise_hyperparameters(fit, problem.at(prior), options, state);

  Hyperparameters here = problem.at(prior);
  at::Tensor x = at::cat({here.log_prior_precision, here.log_noise});
  at::Tensor m = at::zeros_like(x), v = at::zeros_like(x);
  for (int t = 1; t <= 5; ++t) {
    here.log_prior_precision = x.narrow(0, 0, 4);
    here.log_noise = x.narrow(0, 4, 1);
    const Evidence at_x = evidence(fit, here);
    EXPECT_NEAR(result.evidences[static_cast<size_t>(t - 1)], at_x.value, 1e-10);
    const at::Tensor gradient = -at::cat({at_x.gradient.log_prior_precision, at_x.gradient.log_noise});
    m = 0.9 * m + 0.1 * gradient;
    v = 0.999 * v + 0.001 * gradient * gradient;
    x = x - 0.05 * (m / (1 - std::pow(0.9, t))) / ((v / (1 - std::pow(0.999, t))).sqrt() + 1e-8);
  }
  const at::Tensor end = at::cat({result.hyperparameters.log_prior_precision, result.hyperparameters.log_noise});
  EXPECT_LT(relative_difference(end, x), 1e-12);
  EXPECT_EQ(state.step, 5);
}

TEST(OptimiseHyperparameters, AGradientThatIsNotFiniteIsNamed) {
  const SmallProblem problem = small_problems()[2];
  const Prior prior = Prior::scalar(problem.network.layout());
  LaplaceOptions options;
  options.curvature.structure = Structure::diagonal;
  options.curvature.root_derivatives = true;
  LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, problem.at(prior)}, problem.data, options);
  Curvature broken = fit.curvature.curvature();
  for (CurvatureBlock& block : broken.blocks) {
    at::Tensor& derivative = std::get<DiagonalBlock>(block).derivatives.at(0);
    derivative = at::full_like(derivative, std::numeric_limits<double>::quiet_NaN());
  }
  fit.curvature = DecomposedCurvature(broken, prior);
  HyperOptions learning;
  learning.learn_temperature = true;
  HyperState state;
  EXPECT_TRUE(std::isfinite(evidence(fit, problem.at(prior)).value));  // the value does not show it
  testing::expect_error(ErrorKind::numerical, {"gradient of the evidence", "temperature", "not finite", "--hyper-lr"},
                        [&] { optimise_hyperparameters(fit, problem.at(prior), learning, state); });
}

TEST(OptimiseHyperparameters, TheStateLivesOnOverCalls) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::scalar(problem.network.layout());
  const LaplaceFit fit = fit_of(problem, prior, false);
  HyperOptions options;
  options.steps = 6;
  HyperState once, twice;
  const HyperResult whole = optimise_hyperparameters(fit, problem.at(prior), options, once);
  options.steps = 3;
  const HyperResult half = optimise_hyperparameters(fit, problem.at(prior), options, twice);
  const HyperResult rest = optimise_hyperparameters(fit, half.hyperparameters, options, twice);
  EXPECT_LT(relative_difference(rest.hyperparameters.log_prior_precision, whole.hyperparameters.log_prior_precision),
            1e-14);
  EXPECT_LT(relative_difference(rest.hyperparameters.log_noise, whole.hyperparameters.log_noise), 1e-14);
}

TEST(OptimiseHyperparameters, ClimbsAndKeepsTheBest) {
  for (const SmallProblem& problem : small_problems()) {
    SCOPED_TRACE(problem.name);
    const Prior prior = Prior::layerwise(problem.network.layout());
    const LaplaceFit fit = fit_of(problem, prior, true);
    HyperOptions options;
    options.steps = 60;
    options.step_size = 0.03;
    options.learn_temperature = true;
    HyperState state;
    const Hyperparameters start = problem.at(prior);
    const HyperResult result = optimise_hyperparameters(fit, start, options, state);
    EXPECT_GT(result.evidences.back(), result.evidences.front());
    EXPECT_EQ(result.best_evidence, *std::max_element(result.evidences.begin(), result.evidences.end()));
    EXPECT_NEAR(evidence(fit, result.best).value, result.best_evidence, 1e-9);
    EXPECT_LT(relative_difference(start.log_prior_precision, problem.at(prior).log_prior_precision), 1e-15);
  }
}

TEST(OptimiseHyperparameters, OnlyTheLearnedOnesMove) {
  const SmallProblem problem = small_problems()[2];
  const Prior prior = Prior::scalar(problem.network.layout());
  const LaplaceFit fit = fit_of(problem, prior, true);
  HyperOptions options;
  options.steps = 2;
  options.learn_prior = false;
  options.learn_temperature = true;
  HyperState state;
  const Hyperparameters start = problem.at(prior);
  const HyperResult result = optimise_hyperparameters(fit, start, options, state);
  EXPECT_TRUE(at::equal(result.hyperparameters.log_prior_precision, start.log_prior_precision));
  EXPECT_FALSE(at::equal(result.hyperparameters.log_temperature, start.log_temperature));
}

TEST(OptimiseHyperparameters, NoStepsOnlyEvaluates) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::scalar(problem.network.layout());
  const LaplaceFit fit = fit_of(problem, prior, false);
  HyperOptions options;
  options.steps = 0;
  HyperState state;
  const HyperResult result = optimise_hyperparameters(fit, problem.at(prior), options, state);
  EXPECT_TRUE(result.evidences.empty());
  EXPECT_EQ(result.best_evidence, evidence(fit, problem.at(prior)).value);
}

TEST(OptimiseHyperparameters, RefusesWhatHasNoGradient) {
  const SmallProblem problem = small_problems()[2];
  const Prior prior = Prior::scalar(problem.network.layout());
  const LaplaceFit fit = fit_of(problem, prior, false);
  HyperOptions options;
  options.learn_temperature = true;
  HyperState state;
  testing::expect_error(ErrorKind::usage, {"temperature", "root_derivatives"},
                        [&] { optimise_hyperparameters(fit, problem.at(prior), options, state); });
}

}  // namespace
}  // namespace ockham
