#include "ockham/linalg/log_form.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

at::Tensor random_positive(int64_t size, uint64_t seed) {
  const at::Tensor root = at::randn({size, size}, random_stream({seed}), at::kDouble);
  return root.mm(root.t()) + 0.1 * at::eye(size, at::kDouble);
}

/// The corner of log(A) by the series of log(I + X) after many square roots.
double corner_of_log(at::Tensor matrix) {
  constexpr int roots = 12;
  for (int i = 0; i < roots; ++i) {
    const auto [values, vectors] = at::linalg_eigh(matrix);
    matrix = (vectors * values.sqrt()).mm(vectors.t());
  }
  const at::Tensor x = matrix - at::eye(matrix.size(0), at::kDouble);
  const at::Tensor series = x - x.mm(x) / 2 + x.mm(x).mm(x) / 3 - x.mm(x).mm(x).mm(x) / 4;
  return series[0][0].item<double>() * std::pow(2.0, roots);
}

TEST(LogForm, IsTheCornerOfTheMatrixLogarithm) {
  const at::Tensor matrix = random_positive(6, 1);
  EXPECT_NEAR(log_form(matrix, false).value, corner_of_log(matrix), 1e-8);
  EXPECT_NEAR(log_form(at::diag(at::tensor({3.0, 1.0, 2.0}, at::kDouble)), false).value, std::log(3.0), 1e-14);
}

TEST(LogForm, GradientEqualsFiniteDifferences) {
  const at::Tensor matrix = random_positive(5, 2);
  const LogForm form = log_form(matrix, true);
  const at::Tensor expected = testing::finite_difference_gradient(
      [&](const at::Tensor& moved) { return log_form((moved + moved.t()) / 2, false).value; }, matrix, 1e-3);
  EXPECT_LT(testing::relative_difference(form.gradient, expected), 1e-8);
}

TEST(LogForm, GradientIsRightWhereEigenvaluesMeet) {
  at::Tensor matrix = 2 * at::eye(4, at::kDouble);
  const LogForm form = log_form(matrix, true);
  EXPECT_NEAR(form.gradient[0][0].item<double>(), 0.5, 1e-14);
  EXPECT_NEAR(form.gradient.abs().sum().item<double>(), 0.5, 1e-14);
  matrix[1][1] = 2 + 1e-9;  // nearly the same
  EXPECT_NEAR(log_form(matrix, true).gradient[0][0].item<double>(), 0.5, 1e-8);
}

TEST(LogForm, RefusesWhatIsNotPositive) {
  testing::expect_error(ErrorKind::numerical, {"not positive definite", "float64"}, [] {
    log_form(at::diag(at::tensor({1.0, -1e-9}, at::kDouble)), false);
  });
}

}  // namespace
}  // namespace ockham
