#include "ockham/probability/likelihood.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "tests/probability/likelihood_cases.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::LikelihoodCase;

class EachLikelihood : public ::testing::TestWithParam<size_t> {
 protected:
  const LikelihoodCase one = testing::likelihood_cases()[GetParam()];
  int64_t outputs() const { return one.outputs.size(1); }
  int64_t root_count() const { return root_hyperparameter_count(one.likelihood, outputs()); }
  OutputRoot root(CurvatureKind kind, const Hyperparameters& at, bool derivatives = false, int64_t samples = 1) const {
    return output_root(one.likelihood, one.outputs, one.targets, at, {kind, derivatives, samples}, random_stream({7}));
  }
};

INSTANTIATE_TEST_SUITE_P(All, EachLikelihood, ::testing::Range<size_t>(0, 5),
                         [](const auto& info) { return testing::likelihood_cases()[info.param].name; });

TEST_P(EachLikelihood, LogLikelihoodEqualsThePlainFormula) {
  const double expected = testing::plain_log_likelihood(one, one.outputs).sum().item<double>();
  EXPECT_NEAR(log_likelihood(one.likelihood, one.outputs, one.targets, one.hyperparameters), expected, 1e-11);
  const at::Tensor rounded = one.outputs.to(at::kFloat);
  const at::Tensor targets = one.targets.is_floating_point() ? one.targets.to(at::kFloat) : one.targets;
  LikelihoodCase same = one;
  same.targets = targets.is_floating_point() ? targets.to(at::kDouble) : targets;
  EXPECT_NEAR(log_likelihood(one.likelihood, rounded, targets, one.hyperparameters),
              testing::plain_log_likelihood(same, rounded.to(at::kDouble)).sum().item<double>(), 1e-11);
}

TEST_P(EachLikelihood, GradientEqualsAutograd) {
  const at::Tensor f = one.outputs.clone().requires_grad_();
  const at::Tensor expected = -torch::autograd::grad({testing::plain_log_likelihood(one, f).sum()}, {f})[0];
  const at::Tensor actual = output_gradient(one.likelihood, f, one.targets, one.hyperparameters);
  EXPECT_FALSE(actual.requires_grad());
  const double scale = gradient_scale(one.likelihood, one.hyperparameters);
  EXPECT_LT(testing::largest_difference(scale * actual, expected), 1e-13);
}

TEST_P(EachLikelihood, GgnRootSquaresToAutogradsSecondDerivative) {
  const at::Tensor f = one.outputs.clone().requires_grad_();
  const at::Tensor gradient =
      torch::autograd::grad({testing::plain_log_likelihood(one, f).sum()}, {f}, {}, c10::nullopt, true)[0];
  std::vector<at::Tensor> columns;
  for (int64_t c = 0; c < outputs(); ++c) {
    columns.push_back(-torch::autograd::grad({gradient.select(1, c).sum()}, {f}, {}, true)[0]);
  }
  const at::Tensor actual = testing::square(root(CurvatureKind::ggn, one.hyperparameters).root);
  const double scale = curvature_scale(one.likelihood, CurvatureKind::ggn, one.hyperparameters);
  EXPECT_LT(testing::largest_difference(scale * actual, at::stack(columns, 2)), 1e-13);
}

TEST_P(EachLikelihood, EmpiricalFisherIsTheGradientsOuterProduct) {
  const at::Tensor actual = testing::square(root(CurvatureKind::empirical_fisher, one.hyperparameters).root);
  const at::Tensor gradient = gradient_scale(one.likelihood, one.hyperparameters) *
                              output_gradient(one.likelihood, one.outputs, one.targets, one.hyperparameters);
  const double scale = curvature_scale(one.likelihood, CurvatureKind::empirical_fisher, one.hyperparameters);
  EXPECT_LT(testing::largest_difference(scale * actual, at::einsum("nc,nd->ncd", {gradient, gradient})), 1e-12);
}

TEST_P(EachLikelihood, RootDerivativesEqualFiniteDifferences) {
  for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
    EXPECT_TRUE(root(kind, one.hyperparameters).derivatives.empty());
    const OutputRoot result = root(kind, one.hyperparameters, true);
    ASSERT_EQ(static_cast<int64_t>(result.derivatives.size()), root_count());
    for (int64_t m = 0; m < root_count(); ++m) {
      const at::Tensor expected = testing::finite_difference(
          [&](double shift) { return testing::square(root(kind, testing::moved(one, m, shift)).root); });
      const at::Tensor actual = testing::cross(result.root, result.derivatives[static_cast<size_t>(m)]);
      EXPECT_LT(testing::relative_difference(actual, expected), 2e-10) << m;
    }
  }
}

TEST_P(EachLikelihood, GradientDerivativesEqualFiniteDifferences) {
  const auto actual = output_gradient_derivatives(one.likelihood, one.outputs, one.targets, one.hyperparameters);
  ASSERT_EQ(static_cast<int64_t>(actual.size()), root_count());
  for (int64_t m = 0; m < root_count(); ++m) {
    const at::Tensor expected = testing::finite_difference([&](double shift) {
      return output_gradient(one.likelihood, one.outputs, one.targets, testing::moved(one, m, shift));
    });
    EXPECT_LT(testing::relative_difference(actual[static_cast<size_t>(m)], expected), 2e-10) << m;
  }
}

TEST_P(EachLikelihood, MonteCarloMeansAreTheGgnAndItsDerivative) {
  const int64_t samples = 200000;
  const OutputRoot exact = root(CurvatureKind::ggn, one.hyperparameters, true);
  const OutputRoot drawn = root(CurvatureKind::mc_fisher, one.hyperparameters, true, samples);
  ASSERT_EQ(drawn.root.size(2), samples);
  ASSERT_EQ(drawn.derivatives.size(), exact.derivatives.size());
  // About five standard errors of the largest entry.
  const at::Tensor expected = testing::square(exact.root);
  const double tolerance = 0.025 * std::max(1.0, expected.abs().max().item<double>());
  EXPECT_LT(testing::largest_difference(testing::square(drawn.root), expected), tolerance);
  for (size_t m = 0; m < drawn.derivatives.size(); ++m) {
    EXPECT_LT(testing::largest_difference(testing::cross(drawn.root, drawn.derivatives[m]),
                                          testing::cross(exact.root, exact.derivatives[m])),
              3 * tolerance);
  }
}

TEST_P(EachLikelihood, MonteCarloIsTheSameForTheSameStream) {
  const OutputRoot a = root(CurvatureKind::mc_fisher, one.hyperparameters, true, 3);
  const OutputRoot b = root(CurvatureKind::mc_fisher, one.hyperparameters, false, 3);
  EXPECT_TRUE(at::equal(a.root, b.root));
}

TEST_P(EachLikelihood, ColumnsAreAsAnnounced) {
  for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher, CurvatureKind::mc_fisher}) {
    const RootOptions options{kind, true, 2};
    const OutputRoot result = root(kind, one.hyperparameters, true, 2);
    const std::vector<int64_t> shape = {one.outputs.size(0), outputs(),
                                        root_columns(one.likelihood, outputs(), options)};
    EXPECT_EQ(result.root.sizes().vec(), shape);
    for (const at::Tensor& derivative : result.derivatives) EXPECT_EQ(derivative.sizes().vec(), shape);
  }
}

TEST_P(EachLikelihood, KeepsTheTypeOfTheOutputs) {
  const at::Tensor targets = prepare_targets(one.likelihood, one.targets, outputs(), at::kFloat);
  for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher, CurvatureKind::mc_fisher}) {
    const OutputRoot result = output_root(one.likelihood, one.outputs.to(at::kFloat), targets, one.hyperparameters,
                                          {kind, true, 1}, random_stream({1}));
    EXPECT_EQ(result.root.scalar_type(), at::kFloat);
    for (const at::Tensor& derivative : result.derivatives) EXPECT_EQ(derivative.scalar_type(), at::kFloat);
    if (kind == CurvatureKind::mc_fisher) continue;
    const OutputRoot doubles = root(kind, one.hyperparameters);
    EXPECT_LT(testing::largest_difference(result.root, doubles.root), 1e-5);
  }
}

TEST_P(EachLikelihood, RefusesMissingHyperparametersAndNoSamples) {
  if (!std::holds_alternative<Poisson>(one.likelihood)) {
    EXPECT_THROW(log_likelihood(one.likelihood, one.outputs, one.targets, Hyperparameters{}), Error);
  }
  EXPECT_THROW(root(CurvatureKind::mc_fisher, one.hyperparameters, false, 0), Error);
}

TEST(Likelihood, HasTheHyperparametersOfItsKind) {
  const auto counts = [](const Likelihood& likelihood) {
    const Hyperparameters start = default_likelihood_hyperparameters(likelihood, 3);
    EXPECT_FALSE(start.log_prior_precision.defined());
    EXPECT_EQ(root_hyperparameters(likelihood, start).numel(), root_hyperparameter_count(likelihood, 3));
    return std::vector<int64_t>{start.log_noise.numel(), start.log_temperature.numel(),
                                root_hyperparameter_count(likelihood, 3)};
  };
  EXPECT_EQ(counts(Gaussian{}), (std::vector<int64_t>{1, 0, 0}));
  EXPECT_EQ(counts(Gaussian{true}), (std::vector<int64_t>{3, 0, 3}));
  EXPECT_EQ(counts(Categorical{}), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(counts(Bernoulli{}), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(counts(Poisson{}), (std::vector<int64_t>{0, 0, 0}));
}

TEST(Likelihood, ScalesNoiseByItsExponent) {
  Hyperparameters noise = default_likelihood_hyperparameters(Gaussian{}, 2);
  noise.log_noise[0] = std::log(0.5);
  EXPECT_NEAR(curvature_scale(Gaussian{}, CurvatureKind::ggn, noise), 4, 1e-14);
  EXPECT_NEAR(curvature_scale(Gaussian{}, CurvatureKind::mc_fisher, noise), 4, 1e-14);
  EXPECT_NEAR(curvature_scale(Gaussian{}, CurvatureKind::empirical_fisher, noise), 16, 1e-13);
  EXPECT_EQ(curvature_scale_exponent(Gaussian{}, CurvatureKind::ggn), -2);
  EXPECT_EQ(curvature_scale_exponent(Gaussian{}, CurvatureKind::empirical_fisher), -4);
  EXPECT_EQ(curvature_scale_exponent(Gaussian{true}, CurvatureKind::ggn), 0);
  EXPECT_EQ(curvature_scale(Categorical{}, CurvatureKind::empirical_fisher, noise), 1);
}

TEST(Likelihood, IsNamed) {
  EXPECT_EQ(name_of(Gaussian{}), "gaussian");
  EXPECT_EQ(name_of(Categorical{}), "categorical");
  EXPECT_EQ(name_of(Bernoulli{}), "bernoulli");
  EXPECT_EQ(name_of(Poisson{}), "poisson");
}

}  // namespace
}  // namespace ockham
