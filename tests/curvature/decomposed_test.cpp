// Every kind of block under every prior, against the dense matrix that it stands for.
#include "ockham/curvature/decomposed.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/curvature/decomposed_cases.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::all_cases;
using testing::all_priors;
using testing::CurvatureCase;
using testing::dense_precision;
using testing::has_kronecker;
using testing::PriorCase;
using testing::relative_difference;

constexpr double kTolerance = 1e-10;

/// Calls `check` for each case and each prior that it can take.
void for_all(int64_t roots, const std::function<void(const CurvatureCase&, const PriorCase&)>& check) {
  for (const CurvatureCase& one : all_cases(roots)) {
    for (const PriorCase& prior : all_priors(one.layout, has_kronecker(one))) {
      SCOPED_TRACE(one.name + ", " + prior.name + " prior");
      check(one, prior);
    }
  }
}

TEST(Decomposed, LogDeterminantAndGradientsEqualTheDenseOnes) {
  for_all(0, [](const CurvatureCase& one, const PriorCase& prior) {
    const DecomposedCurvature decomposed(one.curvature, prior.prior);
    const PrecisionPoint point{0.8, prior.log_precision, {}};
    const at::Tensor precision = dense_precision(one, prior.prior, point);
    const at::Tensor inverse = at::linalg_inv(precision);
    const LogDeterminant result = decomposed.log_determinant(point);
    EXPECT_NEAR(result.value, testing::log_determinant_of(precision), kTolerance * 30);

    at::Tensor expected = at::zeros({prior.prior.size()}, at::kDouble);
    const at::Tensor by_weight = inverse.diagonal() * prior.prior.expand(prior.log_precision).exp();
    for (size_t i = 0; i < one.layout.count(); ++i) {
      const auto& slot = one.layout[i];
      prior.prior.accumulate(i, by_weight.narrow(0, slot.offset, slot.size), expected);
    }
    EXPECT_LT(relative_difference(result.gradient_log_prior_precision, expected), kTolerance);
    EXPECT_NEAR(result.gradient_log_scale, 0.8 * (inverse * one.matrix()).sum().item<double>(), kTolerance * 30);
    EXPECT_FALSE(result.gradient_root.defined());
  });
}

TEST(Decomposed, SolveCovarianceAndFormsEqualTheDenseOnes) {
  const at::Tensor vector = at::randn({29}, random_stream({3}), at::kDouble);
  const at::Tensor jacobian = at::randn({4, 2, 29}, random_stream({4}), at::kDouble);
  for_all(0, [&](const CurvatureCase& one, const PriorCase& prior) {
    const DecomposedCurvature decomposed(one.curvature, prior.prior, {false, false});
    const PrecisionPoint point{1.3, prior.log_precision, {}};
    const at::Tensor inverse = at::linalg_inv(dense_precision(one, prior.prior, point));
    EXPECT_LT(relative_difference(decomposed.solve(point, vector), inverse.mv(vector)), kTolerance);
    const at::Tensor covariance = at::matmul(jacobian, at::matmul(inverse, jacobian.transpose(1, 2)));
    EXPECT_LT(relative_difference(decomposed.output_covariance(point, jacobian), covariance), kTolerance);
    EXPECT_NEAR(decomposed.curvature_form(point, vector), 1.3 * at::dot(vector, one.matrix().mv(vector)).item<double>(),
                1e-8);
    const at::Tensor weighted = prior.prior.expand(prior.log_precision).exp() * vector * vector;
    EXPECT_NEAR(decomposed.prior_form(point, vector).sum().item<double>(), weighted.sum().item<double>(), 1e-9);
  });
}

TEST(Decomposed, SamplesHaveThePosteriorCovariance) {
  for_all(0, [](const CurvatureCase& one, const PriorCase& prior) {
    const DecomposedCurvature decomposed(one.curvature, prior.prior);
    const PrecisionPoint point{0.5, prior.log_precision, {}};
    const at::Tensor factor = at::linalg_cholesky(dense_precision(one, prior.prior, point));
    const int64_t samples = 20000;
    const at::Tensor whitened = decomposed.sample(point, samples, random_stream({7})).mm(factor);
    const at::Tensor second_moment = whitened.t().mm(whitened) / samples;
    EXPECT_LT((second_moment - at::eye(29, at::kDouble)).abs().max().item<double>(), 0.06);
    EXPECT_LT(whitened.mean(0).abs().max().item<double>(), 0.04);
  });
}

TEST(Decomposed, RootGradientsAtThePassAreExact) {
  const at::Tensor vector = at::randn({29}, random_stream({3}), at::kDouble);
  for (int64_t roots : {1, 2}) {
    for_all(roots, [&](const CurvatureCase& one, const PriorCase& prior) {
      const DecomposedCurvature decomposed(one.curvature, prior.prior);
      const PrecisionPoint point{0.8, prior.log_precision, at::zeros({roots}, at::kDouble)};
      const at::Tensor inverse = at::linalg_inv(dense_precision(one, prior.prior, point));
      const LogDeterminant result = decomposed.log_determinant(point);
      const at::Tensor form = decomposed.root_form(point, vector);
      for (int64_t m = 0; m < roots; ++m) {
        const at::Tensor derivative = 0.8 * one.matrix_derivative(static_cast<size_t>(m));
        const double trace = (inverse * derivative).sum().item<double>();
        EXPECT_NEAR(result.gradient_root[m].item<double>(), trace, 1e-8 * std::abs(trace)) << m;
        const double expected = at::dot(vector, derivative.mv(vector)).item<double>();
        EXPECT_NEAR(form[m].item<double>(), expected, 1e-9 * std::abs(expected)) << m;
      }
    });
  }
}

TEST(Decomposed, NegativeRoundOffIsClippedAndCounted) {
  const ParameterLayout layout({{"w", {3}}});
  DenseBlock block;
  block.parameters = {0};
  block.matrix = at::diag(at::tensor({-1e-6, 1.0, 4.0}, at::kDouble));
  const DecomposedCurvature decomposed({{block}}, Prior::scalar(layout));
  const double value = decomposed.log_determinant({1, at::zeros({1}, at::kDouble), {}}).value;
  EXPECT_NEAR(value, std::log(2.0) + std::log(5.0), 1e-14);
  EXPECT_EQ(decomposed.clipped_eigenvalues(), 1);
}

TEST(Decomposed, NamesTheParameterWhoseCurvatureIsNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const ParameterLayout layout({{"first", {2, 2}}, {"second", {3}}});
  KroneckerBlock first;
  first.parameter = 0;
  first.left = first.right = at::eye(2, at::kDouble).unsqueeze(0);
  DenseBlock second;
  second.parameters = {1};
  second.matrix = at::eye(3, at::kDouble);
  KroneckerBlock bad_first = first;
  bad_first.left = first.left / 0;
  DenseBlock bad_second = second;
  bad_second.matrix = second.matrix * infinite;
  const PrecisionPoint point{1, at::zeros({1}, at::kDouble), {}};
  testing::expect_error(ErrorKind::numerical, {"first", "not finite", "--lr"}, [&] {
    DecomposedCurvature({{bad_first, second}}, Prior::scalar(layout));
  });
  testing::expect_error(ErrorKind::numerical, {"second", "not finite"}, [&] {
    DecomposedCurvature({{first, bad_second}}, Prior::scalar(layout)).log_determinant(point);
  });
  DiagonalBlock diagonal;
  diagonal.parameters = {1};
  diagonal.diagonal = at::full({3}, infinite, at::kDouble);
  testing::expect_error(ErrorKind::numerical, {"log determinant", "second", "not finite"}, [&] {
    DecomposedCurvature({{first, diagonal}}, Prior::scalar(layout)).log_determinant(point);
  });
}

TEST(Decomposed, RefusesWhatItCannotAnswer) {
  const CurvatureCase kronecker = all_cases(0)[5];
  const Prior diagonal = Prior::diagonal(kronecker.layout);
  const at::Tensor precisions = at::randn({diagonal.size()}, random_stream({1}), at::kDouble);
  testing::expect_error(ErrorKind::usage, {"first.weight"}, [&] {
    DecomposedCurvature(kronecker.curvature, diagonal).log_determinant({1, precisions, {}});
  });
  testing::expect_error(ErrorKind::usage, {"Damping", "first.weight"}, [&] {
    DecomposedCurvature(kronecker.curvature, Prior::ard(kronecker.layout), {true, true});
  });
  const DecomposedCurvature scalar(kronecker.curvature, Prior::scalar(kronecker.layout));
  const at::Tensor zero = at::zeros({1}, at::kDouble);
  testing::expect_error(ErrorKind::usage, {"root_derivatives"}, [&] {
    scalar.log_determinant({1, zero, at::ones({1}, at::kDouble)});
  });
  testing::expect_error(ErrorKind::usage, {"2 prior precisions"}, [&] {
    scalar.log_determinant({1, at::zeros({2}, at::kDouble), {}});
  });
  testing::expect_error(ErrorKind::numerical, {"scale"}, [&] { scalar.log_determinant({-1, zero, {}}); });
  testing::expect_error(ErrorKind::numerical, {"not finite"}, [&] { scalar.log_determinant({1, zero / 0, {}}); });
  Curvature partial = kronecker.curvature;
  partial.blocks.pop_back();
  testing::expect_error(ErrorKind::failure, {"covers"},
                        [&] { DecomposedCurvature(partial, Prior::scalar(kronecker.layout)); });
}

TEST(Decomposed, RefusesBlocksThatLackDerivatives) {
  CurvatureCase one = all_cases(1)[5];
  std::get<DiagonalBlock>(one.curvature.blocks.back()).derivatives.clear();
  testing::expect_error(ErrorKind::failure, {"norm"},
                        [&] { DecomposedCurvature(one.curvature, Prior::scalar(one.layout)); });
}

}  // namespace
}  // namespace ockham
