// Rows of linear layers are products: the Gram matrices made from their factors equal those of the rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/curvature/decomposed.h"
#include "ockham/curvature/estimate_curvature.h"

namespace ockham {
namespace {

Network two_layers(int64_t width = 40, int64_t inputs = 6) {
  const auto parameter = [](std::vector<int64_t> shape, uint64_t key) {
    return at::randn(shape, random_stream({key}), at::kDouble).requires_grad_();
  };
  const at::Tensor w = parameter({width, inputs}, 1), b = parameter({width}, 2), transposed = parameter({width, 3}, 3);
  return Network({{"w", w}, {"b", b}, {"transposed", transposed}}, [=](const at::Tensor& x) {
    return at::matmul(at::tanh(at::addmm(b, x, w.t())), transposed);  // gradients left, then right
  });
}

TEST(RowFactors, GiveTheSameLogDeterminantAsTheRows) {
  const Network network = two_layers();
  const at::Tensor inputs = at::randn({13, 6}, random_stream({4}), at::kDouble);
  const Dataset data(inputs, at::randint(0, 3, {13}, random_stream({5}), at::kLong));
  CurvatureOptions options;
  options.structure = Structure::full;
  options.dense_form = CurvatureOptions::DenseForm::rows;
  options.batch_size = 5;
  auto estimate =
      estimate_curvature(network, Categorical{}, data, default_likelihood_hyperparameters(Categorical{}, 3), options);
  auto& block = std::get<DenseBlock>(estimate.curvature.blocks[0]);
  ASSERT_EQ(block.row_factors.size(), 2u);
  EXPECT_EQ(block.row_factors[0].left.size(0), 26);   // gradients: one row per example and column
  EXPECT_EQ(block.row_factors[0].right.size(0), 13);  // inputs: one per example

  const Prior prior = Prior::layerwise(network.layout());
  const PrecisionPoint point{0.7, at::tensor({0.3, -0.4, 0.9}, at::kDouble), {}};
  const LogDeterminant by_factors = DecomposedCurvature(estimate.curvature, prior).log_determinant(point);
  block.row_factors.clear();
  const LogDeterminant by_rows = DecomposedCurvature(estimate.curvature, prior).log_determinant(point);
  EXPECT_NEAR(by_factors.value, by_rows.value, 1e-11 * std::abs(by_rows.value));
  EXPECT_TRUE(at::allclose(by_factors.gradient_log_prior_precision, by_rows.gradient_log_prior_precision, 1e-10));
  EXPECT_NEAR(by_factors.gradient_log_scale, by_rows.gradient_log_scale, 1e-10 * by_rows.gradient_log_scale);
}

TEST(RowFactors, GiveTheSameTracesWhereMostWeightsShareAPrecision) {
  const Network network = two_layers(16, 12);  // 256 weights, 192 of them in the first layer
  const at::Tensor inputs = at::randn({60, 12}, random_stream({4}), at::kDouble);
  const Dataset data(inputs, at::randn({60, 3}, random_stream({5}), at::kDouble));
  const Prior prior = Prior::layerwise(network.layout());
  const PrecisionPoint point{0.7, at::tensor({0.3, -0.4, 0.9}, at::kDouble), {}};
  const auto evaluate = [&](CurvatureOptions::DenseForm form) {
    CurvatureOptions options;
    options.structure = Structure::full;
    options.dense_form = form;
    const auto estimate =
        estimate_curvature(network, Gaussian{}, data, default_likelihood_hyperparameters(Gaussian{}, 3), options);
    return DecomposedCurvature(estimate.curvature, prior).log_determinant(point);
  };
  const LogDeterminant rows = evaluate(CurvatureOptions::DenseForm::rows);  // 180 of them
  const LogDeterminant matrix = evaluate(CurvatureOptions::DenseForm::matrix);
  EXPECT_NEAR(rows.value, matrix.value, 1e-11 * std::abs(matrix.value));
  EXPECT_TRUE(at::allclose(rows.gradient_log_prior_precision, matrix.gradient_log_prior_precision, 1e-9));
  EXPECT_NEAR(rows.gradient_log_scale, matrix.gradient_log_scale, 1e-10 * matrix.gradient_log_scale);
}

}  // namespace
}  // namespace ockham
