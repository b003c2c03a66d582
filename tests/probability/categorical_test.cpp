// The softmax's root in closed form: where classes are sure, impossible or many.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/random.h"
#include "ockham/probability/likelihood.h"
#include "tests/probability/likelihood_cases.h"

namespace ockham {
namespace {

Hyperparameters at_temperature(double temperature) {
  return {at::Tensor(), at::zeros({0}, at::kDouble), at::full({1}, std::log(temperature), at::kDouble)};
}

OutputRoot ggn_root(const at::Tensor& outputs, double temperature) {
  return output_root(Categorical{}, outputs, at::Tensor(), at_temperature(temperature), {CurvatureKind::ggn, true, 1},
                     at::Generator());
}

at::Tensor dense_curvature(const at::Tensor& outputs, double temperature) {
  const at::Tensor p = (outputs.to(at::kDouble) / temperature).softmax(1);
  return (at::diag_embed(p) - p.unsqueeze(2) * p.unsqueeze(1)) / (temperature * temperature);
}

TEST(CategoricalRoot, IsLowerTriangularWithOneColumnFewerThanClasses) {
  const at::Tensor root = ggn_root(at::randn({4, 6}, at::kDouble), 1.3).root;
  EXPECT_EQ(root.size(2), 5);
  EXPECT_TRUE(at::equal(root, root.tril()));
  EXPECT_LT(root.sum(1).abs().max().item<double>(), 1e-15);  // Λ 1 = 0
}

TEST(CategoricalRoot, StandsSureAndImpossibleClasses) {
  for (at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (double size : {30.0, 100.0, 1000.0, 1e5}) {
      at::Tensor outputs = at::zeros({5, 4}, type);
      outputs[0][0] = size;                      // the first is sure: every tail is tiny
      outputs[1][3] = size;                      // the last is sure
      outputs[2][1] = -size;                     // one is impossible
      outputs[3][2] = outputs[3][3] = -size;     // the tail is impossible
      outputs[4] = at::arange(4, type) * -size;  // each far below the one before
      const OutputRoot result = ggn_root(outputs, 0.9);
      EXPECT_TRUE(at::isfinite(result.root).all().item<bool>()) << size;
      EXPECT_TRUE(at::isfinite(result.derivatives[0]).all().item<bool>()) << size;
      const at::Tensor square = testing::square(result.root.to(at::kDouble));
      EXPECT_LT(testing::largest_difference(square, dense_curvature(outputs, 0.9)), type == at::kFloat ? 1e-6 : 1e-14);
    }
  }
}

TEST(CategoricalRoot, KeepsDigitsOfSmallProbabilities) {
  const at::Tensor outputs = at::tensor({40.0, 1.0, 0.0, -1.0}, at::kDouble).unsqueeze(0);
  const auto diagonal = [](const at::Tensor& matrices) { return matrices.diagonal(0, 1, 2).slice(1, 1); };
  const at::Tensor actual = diagonal(testing::square(ggn_root(outputs, 1).root));
  EXPECT_LT((actual / diagonal(dense_curvature(outputs, 1)) - 1).abs().max().item<double>(), 1e-12);
}

TEST(CategoricalRoot, DoesNotLoseDigitsToACommonShiftOfTheLogits) {
  const at::Tensor outputs = at::randn({3, 5}, at::kDouble).to(at::kFloat);
  const OutputRoot plain = ggn_root(outputs, 1.1), shifted = ggn_root(outputs + 4096, 1.1);
  // Only what rounding of the logits themselves costs, 2^-12 / 2.
  EXPECT_LT(testing::largest_difference(plain.derivatives[0], shifted.derivatives[0]), 2e-3);
}

TEST(CategoricalRoot, WorksForAThousandClasses) {
  const at::Tensor outputs = 2 * at::randn({2, 1000}, at::kDouble);
  EXPECT_LT(testing::largest_difference(testing::square(ggn_root(outputs, 1.7).root), dense_curvature(outputs, 1.7)),
            1e-15);
  const at::Tensor rounded = testing::square(ggn_root(outputs.to(at::kFloat), 1.7).root.to(at::kDouble));
  EXPECT_LT(testing::largest_difference(rounded, dense_curvature(outputs, 1.7)), 1e-6);
}

TEST(CategoricalRoot, OfTwoClassesIsTheBernoulliOne) {
  const at::Tensor logit = 3 * at::randn({6, 1}, at::kDouble);
  const at::Tensor pair = at::cat({at::zeros_like(logit), logit}, 1);
  const at::Tensor yes = at::tensor({0.0, 1.0, 1.0, 0.0, 1.0, 0.0}, at::kDouble).unsqueeze(1);
  const at::Tensor classes = yes.squeeze(1).to(at::kLong);
  const Hyperparameters at = at_temperature(0.6);
  EXPECT_NEAR(log_likelihood(Bernoulli{}, logit, yes, at), log_likelihood(Categorical{}, pair, classes, at), 1e-12);
  for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
    const RootOptions options{kind, true, 1};
    const OutputRoot one = output_root(Bernoulli{}, logit, yes, at, options, at::Generator());
    const OutputRoot two = output_root(Categorical{}, pair, classes, at, options, at::Generator());
    const at::Tensor value = testing::square(two.root).slice(1, 1).slice(2, 1);
    const at::Tensor derivative = testing::cross(two.root, two.derivatives[0]).slice(1, 1).slice(2, 1);
    EXPECT_LT(testing::largest_difference(testing::square(one.root), value), 1e-13);
    EXPECT_LT(testing::largest_difference(testing::cross(one.root, one.derivatives[0]), derivative), 1e-12);
  }
}

}  // namespace
}  // namespace ockham
