// Large blocks change from Cholesky factors to decompositions after some evaluations: the answers must not.
#include <gtest/gtest.h>

#include "ockham/curvature/decomposed_whitening.h"
#include "tests/curvature/decomposed_cases.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::CaseMaker;
using testing::relative_difference;

ParameterLayout large_layout() { return ParameterLayout({{"w", {8, 25}}, {"b", {8}}, {"v", {3, 8}}}); }  // 232

void expect_same(const LogDeterminant& actual, const LogDeterminant& expected) {
  EXPECT_LT(relative_difference(actual.value, expected.value), 1e-12);
  EXPECT_LT(relative_difference(actual.gradient_log_prior_precision, expected.gradient_log_prior_precision), 1e-10);
  EXPECT_LT(relative_difference(actual.gradient_log_scale, expected.gradient_log_scale), 1e-10);
  if (expected.gradient_root.defined()) {
    EXPECT_LT(relative_difference(actual.gradient_root, expected.gradient_root), 1e-9);
  }
}

void expect_unchanged_by_evaluations(const DenseBlock& block) {
  const ParameterLayout layout = large_layout();
  for (const Prior& prior :
       {Prior::scalar(layout), Prior::layerwise(layout), Prior::ard(layout), Prior::diagonal(layout)}) {
    SCOPED_TRACE(prior.size());
    const DecomposedCurvature decomposed({{block}}, prior);
    const at::Tensor log_precision = at::randn({prior.size()}, random_stream({2}), at::kDouble);
    const PrecisionPoint point{0.3, log_precision, {}};
    const LogDeterminant first = decomposed.log_determinant(point);
    for (int i = 0; i < 14; ++i) decomposed.log_determinant({0.3 + i, log_precision, {}});
    expect_same(decomposed.log_determinant(point), first);
  }
}

TEST(DecomposedPaths, MatrixForm) {
  for (int64_t roots : {0, 1}) expect_unchanged_by_evaluations(CaseMaker(1, roots).matrix_block({0, 1, 2}, 232));
}

// Steps of a hyperparameter that stay near each other, and some that do not.
TEST(DecomposedPaths, ExpectedEvaluationsAndSmallSteps) {
  const ParameterLayout layout = large_layout();
  const Prior prior = Prior::layerwise(layout);
  const at::Tensor start = at::randn({prior.size()}, random_stream({2}), at::kDouble);
  CaseMaker maker(1, 0);
  for (const DenseBlock& block : {maker.matrix_block({0, 1, 2}, 232), maker.row_block({0, 1, 2}, 150, 232)}) {
    const DecomposedCurvature expecting({{block}}, prior);
    expecting.expect_evaluations(40);
    for (int i = 0; i < 40; ++i) {
      SCOPED_TRACE(i);
      const PrecisionPoint point{0.3 * std::exp(0.005 * i), start + (i == 30 ? 3 : -0.01 * i), {}};
      expect_same(expecting.log_determinant(point), DecomposedCurvature({{block}}, prior).log_determinant(point));
    }
  }
}

TEST(DecomposedPaths, RowForm) {
  for (int64_t roots : {0, 1}) {
    expect_unchanged_by_evaluations(CaseMaker(1, roots).row_block({0, 1, 2}, 150, 232));
    expect_unchanged_by_evaluations(CaseMaker(1, roots).row_block({0, 1, 2}, 70, 232));
  }
}

// From 16 evaluations on, sums over many weights come from bins.
TEST(DecomposedPaths, ManyWeightsEvaluatedOften) {
  const ParameterLayout layout({{"w", {200, 210}}, {"v", {300, 300}}, {"b", {5}}});
  const auto positive = [](std::vector<int64_t> shape, uint64_t key) {
    return (4 * at::randn(shape, random_stream({key}), at::kDouble)).exp();
  };
  KroneckerBlock kronecker;
  kronecker.parameter = 0;
  kronecker.left = at::diag(positive({200}, 1)).unsqueeze(0);
  kronecker.right = at::diag(positive({210}, 2)).unsqueeze(0);
  DiagonalBlock diagonal;
  diagonal.parameters = {1, 2};
  diagonal.diagonal = positive({90005}, 3);
  const Prior prior = Prior::layerwise(layout);
  const DecomposedCurvature decomposed({{kronecker, diagonal}}, prior);
  const PrecisionPoint point{0.3, at::randn({prior.size()}, random_stream({4}), at::kDouble), {}};
  const LogDeterminant first = decomposed.log_determinant(point);
  for (int i = 0; i < 20; ++i) expect_same(decomposed.log_determinant(point), first);
}

TEST(DecomposedPaths, RowFormEqualsMatrixForm) {
  const ParameterLayout layout = large_layout();
  const DenseBlock rows = CaseMaker(1, 0).row_block({0, 1, 2}, 150, 232);
  DenseBlock matrix = rows;
  matrix.matrix = rows.rows.t().mm(rows.rows);
  matrix.rows = at::Tensor();
  for (const Prior& prior : {Prior::scalar(layout), Prior::layerwise(layout), Prior::diagonal(layout)}) {
    const DecomposedCurvature by_rows({{rows}}, prior), by_matrix({{matrix}}, prior);
    const PrecisionPoint point{0.3, at::randn({prior.size()}, random_stream({2}), at::kDouble), {}};
    for (int i = 0; i < 14; ++i) expect_same(by_rows.log_determinant(point), by_matrix.log_determinant(point));
  }
}

TEST(DecomposedPaths, TinyPrecisionsSurviveByClipping) {
  const ParameterLayout layout({{"w", {140}}});
  const at::Tensor row = at::ones({1, 140}, at::kDouble) * 1e6;
  DenseBlock block;
  block.parameters = {0};
  block.matrix = row.t().mm(row);
  const DecomposedCurvature decomposed({{block}}, Prior::scalar(layout));
  const double value = decomposed.log_determinant({1, at::full({1}, std::log(1e-8), at::kDouble), {}}).value;
  EXPECT_GT(value, 0.0 + 139 * std::log(1e-8));  // finite, and no Error(numerical)
}

// Two of twenty directions have data; sums in single precision leave the others with negative eigenvalues.
TEST(DecomposedPaths, RoundOffBelowThePrecisionIsClippedForSolvesToo) {
  const ParameterLayout layout({{"w", {12}}, {"b", {8}}});
  const at::Tensor rows = at::randn({2, 20}, random_stream({4}), at::kDouble);
  const at::Tensor noise = 1e-6 * at::randn({20, 20}, random_stream({5}), at::kDouble);
  DenseBlock exact, rounded;
  exact.parameters = rounded.parameters = {0, 1};
  exact.matrix = rows.t().mm(rows);
  rounded.matrix = exact.matrix + noise + noise.t();
  for (const Prior& prior : {Prior::scalar(layout), Prior::layerwise(layout)}) {
    SCOPED_TRACE(prior.size());
    const PrecisionPoint point{1e6, at::linspace(0, 0.5, prior.size(), at::kDouble), {}};
    const DecomposedCurvature good({{exact}}, prior), bad({{rounded}}, prior);
    const at::Tensor vectors = rows;  // where there are data, round-off does not matter
    EXPECT_LT(relative_difference(bad.solve(point, vectors), good.solve(point, vectors)), 1e-4);
    EXPECT_TRUE(std::isfinite(bad.log_determinant(point).value));
    EXPECT_GT(bad.clipped_eigenvalues(), 0);

    rounded.matrix = exact.matrix - 1e-3 * at::eye(20, at::kDouble);  // no rounding does this
    const DecomposedCurvature wrong({{rounded}}, prior);
    testing::expect_error(ErrorKind::numerical, {"not positive definite"}, [&] { wrong.solve(point, vectors); });
    rounded.matrix = exact.matrix + noise + noise.t();
  }
}

TEST(DecomposedWhitening, SplitsSeparableAndRefusesOthers) {
  const at::Tensor a = at::randn({4}, random_stream({1}), at::kDouble),
                   b = at::randn({3}, random_stream({2}), at::kDouble);
  const at::Tensor product = a.unsqueeze(1) + b;
  const SeparablePrecision split = split_separable(product, "w");
  EXPECT_LT((split.left.unsqueeze(1) + split.right - product).abs().max().item<double>(), 1e-14);
  at::Tensor other = product.clone();
  other[2][1] += 1e-6;
  testing::expect_error(ErrorKind::usage, {"layer.weight"}, [&] { split_separable(other, "layer.weight"); });
}

}  // namespace
}  // namespace ockham
