#include "ockham/linalg/lanczos.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

at::Tensor normal(std::vector<int64_t> shape, uint64_t seed) {
  return at::randn(shape, random_stream({seed}), at::kDouble);
}

at::Tensor random_symmetric(int64_t size, uint64_t seed) {
  const at::Tensor root = normal({size, size}, seed);
  return root.mm(root.t()) / static_cast<double>(size);
}

SymmetricProducts products_of(const at::Tensor& matrix) {
  return [matrix](const at::Tensor& rows) { return rows.mm(matrix); };
}

double largest(const at::Tensor& values) { return values.abs().max().item<double>(); }

TEST(Lanczos, ProjectsTheMatrixOnOrthonormalVectors) {
  const int64_t size = 60, steps = 25;
  const at::Tensor matrix = random_symmetric(size, 1), start = normal({3, size}, 2);
  const Lanczos result = run_lanczos(products_of(matrix), start, {steps});
  for (int64_t s = 0; s < 3; ++s) {
    EXPECT_EQ(result.lengths[static_cast<size_t>(s)], steps);
    const at::Tensor basis = result.basis[s];
    EXPECT_LT(largest(basis.mm(basis.t()) - at::eye(steps, at::kDouble)), 1e-13);
    EXPECT_LT(largest(basis.mm(matrix).mm(basis.t()) - result.tridiagonal[s]), 1e-12);
    EXPECT_NEAR(result.squared_norm[s].item<double>(), start[s].square().sum().item<double>(), 1e-12);
    EXPECT_LT(largest(basis[0] * start[s].norm() - start[s]), 1e-12);
    // Nothing beside the three diagonals.
    EXPECT_EQ(largest(result.tridiagonal[s].triu(2)), 0);
  }
}

TEST(Lanczos, FloatBasisIsOrthogonalToItsRounding) {
  const int64_t size = 200, steps = 40;
  const at::Tensor matrix = random_symmetric(size, 3), start = normal({2, size}, 4);
  const Lanczos result = run_lanczos(products_of(matrix), start, {steps, at::kFloat});
  EXPECT_EQ(result.basis.scalar_type(), at::kFloat);
  const at::Tensor basis = result.basis[1].to(at::kDouble);
  EXPECT_LT(largest(basis.mm(basis.t()) - at::eye(steps, at::kDouble)), 1e-6);
  EXPECT_LT(largest(basis.mm(matrix).mm(basis.t()) - result.tridiagonal[1]), 1e-5);
}

TEST(Lanczos, EndsWithAnInvariantSubspace) {
  // Three eigenvalues, so that three steps see everything; the other start is an eigenvector.
  const int64_t size = 12;
  at::Tensor values = at::ones({size}, at::kDouble);
  values.narrow(0, 4, 4).fill_(2);
  values.narrow(0, 8, 4).fill_(5);
  at::Tensor start = normal({2, size}, 5);
  start[1].zero_();
  start[1][0] = 3;
  const Lanczos result = run_lanczos(products_of(at::diag(values)), start, {8});
  EXPECT_EQ(result.lengths, (std::vector<int64_t>{3, 1}));
  const at::Tensor corner = result.tridiagonal[0].narrow(0, 0, 3).narrow(1, 0, 3);
  const at::Tensor found = std::get<0>(at::linalg_eigh(corner));
  EXPECT_LT(largest(found - at::tensor({1.0, 2.0, 5.0}, at::kDouble)), 1e-12);
  EXPECT_NEAR(result.tridiagonal[1][0][0].item<double>(), 1, 1e-14);
}

TEST(Lanczos, TakesNoMoreStepsThanThereAreDimensions) {
  const at::Tensor matrix = random_symmetric(5, 6);
  const Lanczos result = run_lanczos(products_of(matrix), normal({1, 5}, 7), {30});
  EXPECT_EQ(result.tridiagonal.size(1), 5);
  const at::Tensor expected = std::get<0>(at::linalg_eigh(matrix)),
                   found = std::get<0>(at::linalg_eigh(result.tridiagonal[0]));
  EXPECT_LT(largest(found - expected), 1e-12);
}

TEST(Lanczos, RefusesProductsThatAreNotFinite) {
  const auto broken = [](const at::Tensor& rows) { return rows * std::numeric_limits<double>::quiet_NaN(); };
  testing::expect_error(ErrorKind::numerical, {"not finite"}, [&] { run_lanczos(broken, normal({1, 4}, 8), {3}); });
}

}  // namespace
}  // namespace ockham
