// A root of the inverse, H⁻¹ = W Wᵀ, for every kind of block and prior.
#include <gtest/gtest.h>

#include "tests/curvature/decomposed_cases.h"

namespace ockham {
namespace {

using testing::all_cases;
using testing::all_priors;
using testing::relative_mismatch;

TEST(DecomposedRoot, TimesItsTransposeIsTheInverse) {
  for (const testing::CurvatureCase& one : all_cases(0)) {
    for (const testing::PriorCase& prior : all_priors(one.layout, has_kronecker(one))) {
      SCOPED_TRACE(one.name + ", " + prior.name);
      const DecomposedCurvature decomposed(one.curvature, prior.prior, {});
      const PrecisionPoint point{1.7, prior.log_precision, {}};
      const at::Tensor identity = at::eye(one.layout.total(), at::kDouble);
      const at::Tensor root_rows = decomposed.apply_root(point, identity);              // rows W e_i: Wᵀ
      const at::Tensor other_rows = decomposed.apply_root_transposed(point, identity);  // rows Wᵀ e_i: W
      EXPECT_LT(relative_mismatch(other_rows, root_rows.t()), 1e-9);
      const at::Tensor inverse = at::linalg_inv(dense_precision(one, prior.prior, point));
      EXPECT_LT(relative_mismatch(other_rows.mm(root_rows), inverse), 1e-9);
    }
  }
}

TEST(DecomposedRoot, FollowsADampedKroneckerBlock) {
  const testing::CurvatureCase one = all_cases(0)[5];
  const Prior prior = Prior::layerwise(one.layout);
  DecomposeOptions options;
  options.damping = true;
  const DecomposedCurvature decomposed(one.curvature, prior, options);
  const PrecisionPoint point{0.8, 0.3 * at::ones({prior.size()}, at::kDouble), {}};
  const at::Tensor root_rows = decomposed.apply_root(point, at::eye(one.layout.total(), at::kDouble));
  EXPECT_NEAR(-2 * testing::log_determinant_of(root_rows), decomposed.log_determinant(point).value, 1e-9);
}

}  // namespace
}  // namespace ockham
