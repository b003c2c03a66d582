#include "ockham/linalg/factorise_and_invert.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/platform.h"

namespace ockham {
namespace {

/// Eigenvalues from 1 down to 1/condition.
at::Tensor matrix_of_condition(int64_t n, double condition) {
  const at::Tensor basis = std::get<0>(at::linalg_qr(at::randn({n, n}, at::kDouble)));
  const at::Tensor values = at::logspace(0, -std::log10(condition), n, 10, at::kDouble);
  const at::Tensor matrix = (basis * values).mm(basis.t());
  return (matrix + matrix.t()) / 2;
}

struct Factors {
  int minor;
  at::Tensor lower, inverse;
};

Factors factors_of(const at::Tensor& matrix) {
  const int64_t n = matrix.size(0);
  const at::Tensor columns = matrix.clone(), inverse = at::full({n, n}, std::nan(""), at::kDouble);
  const int minor = factorise_and_invert(columns.data_ptr<double>(), inverse.data_ptr<double>(), static_cast<int>(n));
  return {minor, columns.t().tril(), inverse.t().tril()};
}

class FactoriseAndInvert : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(available_cpus()); }
};

TEST_P(FactoriseAndInvert, GivesTheFactorAndItsInverse) {
  for (int64_t n : {1, 2, 17, 40, 41, 55, 96, 97, 250, 501, 700}) {
    const at::Tensor matrix = matrix_of_condition(n, 1e4);
    const Factors factors = factors_of(matrix);
    ASSERT_EQ(factors.minor, 0) << n;
    EXPECT_LT((factors.lower - at::linalg_cholesky(matrix)).abs().max().item<double>(), 1e-12) << n;
    EXPECT_LT((factors.inverse.mm(factors.lower) - at::eye(n, at::kDouble)).abs().max().item<double>(), 1e-11) << n;
  }
}

// What the evidence reads: the determinant, whose truth is known, also where products with inverses are at their worst.
TEST_P(FactoriseAndInvert, KeepsTheDeterminantOfIllConditionedMatrices) {
  for (const double condition : {1e8, 1e10, 1e12}) {
    const at::Tensor matrix = matrix_of_condition(501, condition);
    const Factors factors = factors_of(matrix);
    ASSERT_EQ(factors.minor, 0);
    const double plain = at::linalg_cholesky(matrix).diagonal().log().sum().item<double>();
    const double ours = factors.lower.diagonal().log().sum().item<double>();
    // The matrix itself is rounded: its determinant is known to condition · 1e-16 only.
    EXPECT_NEAR(ours, plain, 1e-14 * condition + 1e-9) << condition;
  }
}

TEST_P(FactoriseAndInvert, SaysWhichMinorIsNotPositive) {
  for (int64_t n : {5, 60, 300}) {
    for (int64_t place : {int64_t{0}, n / 3, n - 1}) {
      at::Tensor matrix = matrix_of_condition(n, 10);
      matrix[place][place] = -1;
      EXPECT_EQ(factors_of(matrix).minor, place + 1) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, FactoriseAndInvert, testing::Values(1, 2));

}  // namespace
}  // namespace ockham
