#include "ockham/curvature/rebuild_dense.h"

#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::relative_difference;

at::Tensor normal(std::vector<int64_t> shape, uint64_t seed) {
  return at::randn(shape, random_stream({seed}), at::kDouble);
}

/// Σ_n J_nᵀ (diag p - p pᵀ) J_n / T² by its definition.
at::Tensor softmax_curvature(const at::Tensor& jacobian, const at::Tensor& outputs, double log_temperature) {
  at::Tensor total = at::zeros({jacobian.size(1), jacobian.size(1)}, at::kDouble);
  for (int64_t n = 0; n < outputs.size(0); ++n) {
    const at::Tensor p = at::softmax(outputs[n] * std::exp(-log_temperature), 0);
    const at::Tensor rows = jacobian.narrow(0, n * outputs.size(1), outputs.size(1));
    total += rows.t().mm(at::diag(p) - at::outer(p, p)).mm(rows) * std::exp(-2 * log_temperature);
  }
  return total;
}

TEST(RebuildDense, IsTheCurvatureAtTheOtherTemperature) {
  const at::Tensor outputs = normal({6, 3}, 1), targets = at::arange(6).remainder(3),
                   none = at::zeros({0}, at::kDouble);
  const Hyperparameters pass{{}, none, at::zeros({1}, at::kDouble)}, there{{}, none, at::full({1}, 0.7, at::kDouble)};
  DataFit data_fit(Categorical{}, pass, /*keep_outputs=*/true);
  data_fit.add(outputs.narrow(0, 0, 4), targets.narrow(0, 0, 4));
  data_fit.add(outputs.narrow(0, 4, 2), targets.narrow(0, 4, 2));
  DenseBlock block;
  block.parameters = {0};
  block.jacobian = normal({18, 5}, 2);
  const at::Tensor expected = softmax_curvature(block.jacobian, outputs, 0.7);
  const auto entry = [&](const at::Tensor& t) {
    return softmax_curvature(block.jacobian, outputs, t.item<double>())[1][2].item<double>();
  };
  const at::Tensor slope = testing::finite_difference_gradient(entry, there.log_temperature);
  for (bool rows : {false, true}) {
    block.rows = rows ? normal({12, 5}, 3) : at::Tensor();  // only says which form to give
    const Curvature rebuilt = rebuild_dense({{block}}, data_fit, there, {Categorical{}, CurvatureKind::ggn, true});
    EXPECT_LT(relative_difference(dense(rebuilt, {5}), expected), 1e-12);
    const DenseBlock& result = std::get<DenseBlock>(rebuilt.blocks[0]);
    EXPECT_EQ(result.rows.defined(), rows);
    at::Tensor derivative;
    if (rows) {
      const at::Tensor half = result.rows.t().mm(result.row_derivatives[0]);
      derivative = half + half.t();
    } else {
      derivative = result.matrix_derivatives[0];
    }
    EXPECT_NEAR(derivative[1][2].item<double>(), slope.item<double>(), 1e-9);
  }
}

TEST(RebuildDense, NeedsKeptJacobiansAndNoSampledTargets) {
  DenseBlock block;
  block.parameters = {0};
  block.matrix = at::eye(2, at::kDouble);
  EXPECT_FALSE(can_rebuild({{block}}, CurvatureKind::ggn));
  block.jacobian = at::ones({3, 2}, at::kDouble);
  EXPECT_TRUE(can_rebuild({{block}}, CurvatureKind::ggn));
  EXPECT_FALSE(can_rebuild({{block}}, CurvatureKind::mc_fisher));
  EXPECT_FALSE(can_rebuild({{block, DiagonalBlock{}}}, CurvatureKind::ggn));
}

TEST(RebuildDense, MultipliesByTheTransposedJacobiansInTheirPlaces) {
  const ParameterLayout layout({{"a", {2}}, {"b", {1}}, {"c", {2}}});
  DenseBlock outer, inner;
  outer.parameters = {0, 2};
  outer.jacobian = normal({6, 4}, 1);
  inner.parameters = {1};
  inner.jacobian = normal({6, 1}, 2);
  const at::Tensor column = normal({3, 2}, 3);
  const at::Tensor whole = at::cat({outer.jacobian.narrow(1, 0, 2), inner.jacobian, outer.jacobian.narrow(1, 2, 2)}, 1);
  EXPECT_LT(
      relative_difference(back_through_jacobians({{outer, inner}}, layout, column), whole.t().mv(column.reshape(-1))),
      1e-13);
}

}  // namespace
}  // namespace ockham
