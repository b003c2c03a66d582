#include "ockham/linalg/mirror.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace ockham {
namespace {

at::Tensor symmetric_of(const at::Tensor& matrix) { return matrix.tril() + matrix.tril(-1).t(); }

TEST(MirrorLower, MakesTheMatrixSymmetricInEveryLayout) {
  for (int64_t n : {1, 5, 32, 33, 100}) {
    at::Tensor by_rows = at::randn({n, n}, at::kDouble);
    at::Tensor by_columns = by_rows.t().contiguous().t();
    const at::Tensor expected = symmetric_of(by_rows);
    mirror_lower(by_rows);
    mirror_lower(by_columns);
    EXPECT_TRUE(by_rows.equal(expected)) << n;
    EXPECT_TRUE(by_columns.equal(expected)) << n;
  }
}

TEST(SymmetricFromLower, IsExactInDoublePrecision) {
  for (int64_t n : {1, 5, 32, 33, 100, 256, 301}) {
    const at::Tensor lower = at::randn({n, n}, at::kFloat), matrix = symmetric_from_lower(lower);
    EXPECT_EQ(matrix.scalar_type(), at::kDouble);
    EXPECT_TRUE(matrix.equal(symmetric_of(lower.to(at::kDouble)))) << n;
  }
}

TEST(ScaledCopy, IsTheProductAndLeavesTheMatrix) {
  for (int64_t n : {1, 3, 255, 256, 301}) {
    const at::Tensor matrix = at::randn({n, n}, at::kDouble), before = matrix.clone();
    EXPECT_TRUE(scaled_copy(matrix, 2.5).equal(matrix * 2.5)) << n;
    EXPECT_TRUE(scaled_copy(matrix.t(), 2.5).equal(matrix.t() * 2.5)) << n;
    EXPECT_TRUE(matrix.equal(before));
  }
}

}  // namespace
}  // namespace ockham
