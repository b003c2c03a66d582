#include "ockham/linalg/triangular_inverse.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ockham/base/platform.h"

namespace ockham {
namespace {

at::Tensor random_lower(int64_t n) {
  at::Tensor lower = at::randn({n, n}, at::kDouble).tril() / std::sqrt(static_cast<double>(n));
  lower.diagonal().abs_().add_(1);
  return lower;
}

// Around the sizes where the way changes: the leaf, the halves in parallel, threaded BLAS.
const std::vector<int64_t> sizes = {1, 2, 7, 31, 32, 33, 64, 100, 255, 256, 257, 501, 999, 1003};

TEST(TriangularInverse, TimesTheMatrixIsTheIdentity) {
  for (int64_t n : sizes) {
    const at::Tensor lower = random_lower(n), inverse = triangular_inverse(lower);
    EXPECT_LT((inverse.mm(lower) - at::eye(n, at::kDouble)).abs().max().item<double>(), 1e-12) << n;
    EXPECT_EQ(inverse.triu(1).abs().max().item<double>(), 0) << n;
  }
}

TEST(TriangularInverse, ColumnNormsAreThoseOfTheInverse) {
  for (int64_t n : sizes) {
    const at::Tensor lower = random_lower(n);
    const at::Tensor expected = at::linalg_inv(lower).square().sum(0);
    EXPECT_TRUE(at::allclose(triangular_inverse_column_norms(lower), expected, 1e-12, 0)) << n;
    const at::Tensor without_inverse = triangular_inverse_column_norms(lower, /*largest_inverse=*/0);
    EXPECT_TRUE(at::allclose(without_inverse, expected, 1e-12, 0)) << n;
  }
}

TEST(TriangularInverse, ReadsNothingAboveTheDiagonalAndEveryLayout) {
  const at::Tensor lower = random_lower(70), expected = triangular_inverse(lower);
  const at::Tensor noise = at::full({70, 70}, std::numeric_limits<double>::quiet_NaN(), at::kDouble).triu(1);
  const at::Tensor filled = at::where(at::isnan(noise), noise, lower);
  EXPECT_TRUE(triangular_inverse(filled).equal(expected));
  EXPECT_TRUE(triangular_inverse_column_norms(filled).equal(triangular_inverse_column_norms(lower)));
  EXPECT_TRUE(triangular_inverse(lower.t().contiguous().t()).equal(expected)) << "by columns";
  EXPECT_TRUE(lower.equal(lower.tril())) << "the argument is left alone";
}

TEST(TriangularInverse, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor lower = random_lower(501);
  set_threads(1);
  const at::Tensor one = triangular_inverse(lower);
  set_threads(2);
  const at::Tensor two = triangular_inverse(lower);
  set_threads(available_cpus());
  EXPECT_TRUE(one.equal(two));
}

}  // namespace
}  // namespace ockham
