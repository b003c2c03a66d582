// Damped and away from the pass: value, gradients, solves and forms must belong to one and the same H.
#include "ockham/curvature/decomposed_moving.h"

#include <gtest/gtest.h>

#include "tests/curvature/decomposed_cases.h"

namespace ockham {
namespace {

using testing::all_cases;
using testing::all_priors;
using testing::CurvatureCase;
using testing::finite_difference_gradient;
using testing::has_kronecker;
using testing::relative_difference;

/// Checks everything that a decomposition says about its H against H itself, taken from its own inverse.
void expect_consistent(const DecomposedCurvature& decomposed, const PrecisionPoint& point) {
  const at::Tensor vector = at::randn({29}, random_stream({3}), at::kDouble);
  const auto at_scale = [&](const at::Tensor& log_scale) {
    PrecisionPoint moved = point;
    moved.scale = std::exp(log_scale.item<double>());
    return moved;
  };
  const auto at_prior = [&](const at::Tensor& log_precision) {
    PrecisionPoint moved = point;
    moved.log_prior_precision = log_precision;
    return moved;
  };
  const auto at_root = [&](const at::Tensor& shift) {
    PrecisionPoint moved = point;
    moved.root_shift = shift;
    return moved;
  };
  const at::Tensor inverse = testing::inverse_of(decomposed, point);
  const LogDeterminant result = decomposed.log_determinant(point);
  EXPECT_NEAR(result.value, -testing::log_determinant_of(inverse), 1e-8);
  EXPECT_LT(relative_difference(decomposed.solve(point, vector), inverse.mv(vector)), 1e-9);

  const auto value = [&](const PrecisionPoint& at) { return decomposed.log_determinant(at).value; };
  const auto form = [&](const PrecisionPoint& at) {
    return at::dot(vector, at::linalg_solve(testing::inverse_of(decomposed, at), vector)).item<double>();
  };
  const at::Tensor log_scale = at::full({1}, std::log(point.scale), at::kDouble);
  const auto check = [&](auto move, const at::Tensor& at, const at::Tensor& gradient, const at::Tensor& forms,
                         const char* what) {
    const auto of_value = [&](const at::Tensor& x) { return value(move(x)); };
    const auto of_form = [&](const at::Tensor& x) { return form(move(x)); };
    EXPECT_LT(relative_difference(gradient, finite_difference_gradient(of_value, at)), 1e-7) << what;
    EXPECT_LT(relative_difference(forms, finite_difference_gradient(of_form, at)), 1e-6) << what;
  };
  check(at_scale, log_scale, at::full({1}, result.gradient_log_scale, at::kDouble),
        at::full({1}, decomposed.curvature_form(point, vector), at::kDouble), "log scale");
  check(at_prior, point.log_prior_precision, result.gradient_log_prior_precision, decomposed.prior_form(point, vector),
        "log prior precision");
  if (point.root_shift.defined()) {
    check(at_root, point.root_shift, result.gradient_root, decomposed.root_form(point, vector), "root");
  }
}

TEST(DecomposedMoving, ValueAndGradientsBelongTogetherAwayFromThePass) {
  for (int64_t roots : {1, 2}) {
    const at::Tensor shift = roots == 1 ? at::full({1}, 0.3, at::kDouble) : at::tensor({0.2, -0.1}, at::kDouble);
    for (const CurvatureCase& one : all_cases(roots)) {
      // Two independent derivatives of one matrix need not keep it positive; σ per output, the real case, does.
      if (roots == 2 && !has_kronecker(one) && one.name.find("rows") == std::string::npos) continue;
      for (const auto& prior : all_priors(one.layout, has_kronecker(one))) {
        SCOPED_TRACE(one.name + ", " + prior.name + " prior, " + std::to_string(roots));
        expect_consistent(DecomposedCurvature(one.curvature, prior.prior), {0.8, prior.log_precision, shift});
      }
    }
  }
}

TEST(DecomposedMoving, DampedKroneckerIsTheProductOfShiftedFactors) {
  for (const CurvatureCase& one : all_cases(0)) {
    if (!has_kronecker(one)) continue;
    for (const auto& prior : all_priors(one.layout, true)) {
      if (prior.name == "ard") continue;
      SCOPED_TRACE(one.name + ", " + prior.name + " prior");
      const DecomposedCurvature decomposed(one.curvature, prior.prior, {true, true});
      const PrecisionPoint point{0.8, prior.log_precision, {}};
      expect_consistent(decomposed, point);
      const auto& block = std::get<KroneckerBlock>(one.curvature.blocks[0]);
      const double root = std::exp(0.5 * prior.log_precision[0].item<double>()), scale = std::sqrt(0.8);
      const int64_t d0 = block.left.size(1), d1 = block.right.size(1);
      const at::Tensor expected = at::kron(scale * block.left[0] + root * at::eye(d0, at::kDouble),
                                           scale * block.right[0] + root * at::eye(d1, at::kDouble));
      const at::Tensor inverse = testing::inverse_of(decomposed, point).narrow(0, 0, d0 * d1).narrow(1, 0, d0 * d1);
      EXPECT_LT(relative_difference(inverse.mm(expected), at::eye(d0 * d1, at::kDouble)), 1e-10);
      // Only Kronecker blocks are damped.
      const double bias_precision = prior.log_precision[prior.prior.slot(1).first].exp().item<double>();
      const auto& bias = std::get<DenseBlock>(one.curvature.blocks[1]);
      const at::Tensor additive = 0.8 * bias.factor * bias.matrix + bias_precision * at::eye(4, at::kDouble);
      const at::Tensor bias_inverse = testing::inverse_of(decomposed, point).narrow(0, 12, 4).narrow(1, 12, 4);
      EXPECT_LT(relative_difference(bias_inverse.mm(additive), at::eye(4, at::kDouble)), 1e-10);
    }
  }
}

TEST(DecomposedMoving, DampedRootGradients) {
  const at::Tensor shift = at::full({1}, 0.2, at::kDouble);
  for (const CurvatureCase& one : all_cases(1)) {
    if (!has_kronecker(one)) continue;
    SCOPED_TRACE(one.name);
    const Prior prior = Prior::layerwise(one.layout);
    expect_consistent(DecomposedCurvature(one.curvature, prior, {true, true}),
                      {0.8, at::zeros({prior.size()}, at::kDouble), shift});
  }
}

TEST(DecomposedMoving, ScalingsAreExactAtAnyDistance) {
  EigenStore store;
  testing::CaseMaker make(9, 0);
  std::vector<at::Tensor> none;
  const at::Tensor first = make.gram(9, 6, none), second = make.gram(9, 6, none);
  const at::Tensor shift = at::full({1}, 1.7, at::kDouble);
  MovingFactor temperature(first, {-2 * first}, store);
  EXPECT_LT(relative_difference(temperature.matrix(shift), first * std::exp(-3.4)), 1e-12);
  EXPECT_LT(relative_difference(temperature.values(shift), at::linalg_eigvalsh(first) * std::exp(-3.4)), 1e-12);
  // σ per output: the curvature is Σ_c σ_c^-2 B_c.
  const at::Tensor both = first + second;
  MovingFactor noise(both, {-2 * first, -2 * second}, store);
  const at::Tensor expected = first * std::exp(-2.0) + second * std::exp(1.0);
  EXPECT_LT(relative_difference(noise.matrix(at::tensor({1.0, -0.5}, at::kDouble)), expected), 1e-12);
}

TEST(DecomposedMoving, SharedMemoryIsDecomposedOnce) {
  EigenStore store;
  const at::Tensor stacked = at::eye(3, at::kDouble).repeat({2, 1, 1});
  EXPECT_EQ(store.add(stacked[0]), store.add(stacked[0]));
  EXPECT_NE(store.add(stacked[0]), store.add(stacked[1]));
}

}  // namespace
}  // namespace ockham
