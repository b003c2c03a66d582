// The evidence of the full structure whose log determinant is estimated, against the exact one.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/evidence/optimise_hyperparameters.h"
#include "ockham/evidence/self_check.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::finite_difference_gradient;
using testing::relative_difference;
using testing::small_problems;
using testing::SmallProblem;

LaplaceOptions estimated(int64_t probes = 400) {
  LaplaceOptions options;
  options.curvature.structure = Structure::full;
  options.curvature.root_derivatives = true;
  options.slq = SlqOptions{};
  options.slq->probes = probes;
  return options;
}

LaplaceOptions exact() {
  LaplaceOptions options = estimated();
  options.slq.reset();
  return options;
}

Evidence evidence_with(const SmallProblem& problem, const Prior& prior, const Hyperparameters& values,
                       const LaplaceOptions& options) {
  return evidence(fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options), values);
}

TEST(EstimatedDeterminant, IsWithinItsErrorOfTheExactOneForEveryLikelihood) {
  for (const SmallProblem& problem : small_problems()) {
    SCOPED_TRACE(problem.name);
    const Prior prior = Prior::layerwise(problem.network.layout());
    const Hyperparameters values = problem.at(prior);
    const Evidence expected = evidence_with(problem, prior, values, exact());
    const Evidence found = evidence_with(problem, prior, values, estimated());
    ASSERT_TRUE(found.log_det_error.has_value());
    EXPECT_FALSE(expected.log_det_error.has_value());
    EXPECT_EQ(found.log_likelihood, expected.log_likelihood);
    EXPECT_EQ(found.log_prior, expected.log_prior);
    EXPECT_LT(std::abs(found.log_det - expected.log_det), 2 * found.log_det_error->half_width + 1e-9);
    EXPECT_NEAR(found.value - expected.value, -0.5 * (found.log_det - expected.log_det), 1e-9);
    // The gradient is of the same quality: a few hundredths of a nat for a factor e.
    const auto near = [&](const at::Tensor& actual, const at::Tensor& truth) {
      ASSERT_EQ(actual.sizes(), truth.sizes());
      if (truth.numel() > 0) {
        EXPECT_LT((actual - truth).abs().max().item<double>(), 0.25);
      }
    };
    near(found.gradient.log_prior_precision, expected.gradient.log_prior_precision);
    near(found.gradient.log_noise, expected.gradient.log_noise);
    near(found.gradient.log_temperature, expected.gradient.log_temperature);
  }
}

TEST(EstimatedDeterminant, GradientEqualsFiniteDifferencesOfTheEstimate) {
  for (const SmallProblem& problem : small_problems()) {
    SCOPED_TRACE(problem.name);
    const Prior prior = Prior::layerwise(problem.network.layout());
    const Hyperparameters values = problem.at(prior);
    const LaplaceFit fit =
        fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, estimated(4));
    for (at::Tensor Hyperparameters::*part :
         {&Hyperparameters::log_prior_precision, &Hyperparameters::log_noise, &Hyperparameters::log_temperature}) {
      if ((values.*part).numel() == 0) continue;
      const at::Tensor expected = finite_difference_gradient(
          [&](const at::Tensor& at) {
            Hyperparameters moved = values.clone();
            moved.*part = at.clone();
            return evidence(fit, moved).value;
          },
          values.*part);
      EXPECT_LT(relative_difference(evidence(fit, values).gradient.*part, expected), 1e-6);
    }
  }
}

/// With the same probes at both sides, new fits differ by what the gradient says: common random numbers.
TEST(EstimatedDeterminant, GradientPredictsNewFitsWithTheSameProbes) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::scalar(problem.network.layout());
  const Hyperparameters values = problem.at(prior);
  const LaplaceOptions options = estimated(200);
  const auto slope = [&](const LaplaceOptions& with) {
    const auto value_at = [&](double shift) {
      Hyperparameters moved = values.clone();
      moved.log_prior_precision = values.log_prior_precision + shift;
      return evidence_with(problem, prior, moved, with).value;
    };
    return (value_at(0.05) - value_at(-0.05)) / 0.1;
  };
  const double by_fits = slope(options), truth = slope(exact());
  const double gradient = evidence_with(problem, prior, values, options).gradient.log_prior_precision.item<double>();
  EXPECT_NEAR(by_fits, truth, 0.1);
  EXPECT_NEAR(gradient, by_fits, 0.1);
}

TEST(EstimatedDeterminant, StepsOnHyperparametersFollowTheExactOnes) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::layerwise(problem.network.layout());
  const Hyperparameters values = problem.at(prior);
  HyperOptions steps;
  steps.steps = 40;
  const auto end = [&](const LaplaceOptions& options) {
    HyperState state;
    return optimise_hyperparameters(
               fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options), values, steps,
               state)
        .hyperparameters;
  };
  const Hyperparameters found = end(estimated(60)), expected = end(exact());
  EXPECT_LT((found.log_prior_precision - expected.log_prior_precision).abs().max().item<double>(), 0.3);
  EXPECT_LT((found.log_noise - expected.log_noise).abs().max().item<double>(), 0.1);
}

TEST(EstimatedDeterminant, SameSeedSameBitsAnotherSeedAnotherEstimate) {
  const SmallProblem problem = small_problems()[2];
  const Prior prior = Prior::scalar(problem.network.layout());
  const Hyperparameters values = problem.at(prior);
  LaplaceOptions options = estimated(5);
  const double first = evidence_with(problem, prior, values, options).value;
  EXPECT_EQ(evidence_with(problem, prior, values, options).value, first);
  options.slq->seed = 1;
  EXPECT_NE(evidence_with(problem, prior, values, options).value, first);
}

TEST(EstimatedDeterminant, HoldsThePreconditionersPosterior) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::scalar(problem.network.layout());
  const Hyperparameters values = problem.at(prior);
  const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, estimated(3));
  LaplaceOptions kronecker = exact();
  kronecker.curvature.structure = Structure::kronecker;
  const LaplaceFit other = fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, kronecker);
  EXPECT_EQ(fit.options.curvature.structure, Structure::kronecker);
  EXPECT_EQ(fit.difference->probes(), 3);
  const PrecisionPoint point{1, values.log_prior_precision, {}};
  const at::Tensor vector = fit.mode;
  EXPECT_TRUE(at::equal(fit.curvature.solve(point, vector), other.curvature.solve(point, vector)));
}

TEST(EstimatedDeterminant, PassesTheSelfCheck) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::scalar(problem.network.layout());
  const Model model{problem.network, problem.likelihood, prior, problem.at(prior)};
  const LaplaceOptions options = estimated(5);
  const LaplaceFit fit = fit_laplace(model, problem.data, options);
  for (const SelfCheck& check :
       check_evidence({model, problem.data, options, {}, {}}, fit, evidence(fit, model.hyperparameters))) {
    if (check.name != "mode") {
      EXPECT_TRUE(check.holds()) << check.name << " " << check.difference;
    }
    EXPECT_EQ(check.not_checked.empty(), check.name != "other space" && check.name != "floating type") << check.name;
  }
}

TEST(EstimatedDeterminant, RefusesWhatItIsNotFor) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::scalar(problem.network.layout());
  const Hyperparameters values = problem.at(prior);
  const auto refused = [&](const std::vector<std::string>& mentioned, const LaplaceOptions& options) {
    testing::expect_error(ErrorKind::usage, mentioned, [&] { evidence_with(problem, prior, values, options); });
  };
  LaplaceOptions options = estimated(4);
  options.curvature.structure = Structure::kronecker;
  refused({"full structure", "--log-det slq"}, options);
  options = estimated(4);
  options.curvature.kind = CurvatureKind::mc_fisher;
  refused({"Monte-Carlo"}, options);
  options = estimated(4);
  options.slq->preconditioner = Structure::block;
  refused({"preconditioner"}, options);
  refused({"two probes"}, estimated(1));
  // The empirical Fisher has products too.
  options = estimated(400);
  options.curvature.kind = CurvatureKind::empirical_fisher;
  LaplaceOptions dense = exact();
  dense.curvature.kind = CurvatureKind::empirical_fisher;
  const Evidence found = evidence_with(problem, prior, values, options);
  EXPECT_LT(std::abs(found.log_det - evidence_with(problem, prior, values, dense).log_det),
            2 * found.log_det_error->half_width);
}

}  // namespace
}  // namespace ockham
