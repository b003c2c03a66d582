#include "ockham/linalg/cholesky.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

at::Tensor positive_matrix(int64_t n) {
  const at::Tensor root = at::randn({n, n + 3}, at::kDouble);
  return at::mm(root, root.t()) + at::eye(n, at::kDouble);
}

std::string message_of(const at::Tensor& matrix) {
  try {
    cholesky(matrix, "posterior precision");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numerical);
    return error.what();
  }
  return "";
}

TEST(Cholesky, GivesFactorDeterminantAndInverse) {
  for (int64_t n : {1, 5, 60, 1010}) {
    const at::Tensor matrix = positive_matrix(n), factor = cholesky(matrix, "matrix");
    EXPECT_LT((at::mm(factor, factor.t()) - matrix).abs().max().item<double>(), 1e-10 * n);
    const double expected = at::linalg_eigvalsh(matrix).log().sum().item<double>();
    EXPECT_NEAR(log_determinant_of_factor(factor), expected, 1e-11 * std::abs(expected) + 1e-12);
    const at::Tensor inverse = inverse_from_factor(factor);
    EXPECT_LT((at::mm(inverse, matrix) - at::eye(n, at::kDouble)).abs().max().item<double>(), 1e-9);
    EXPECT_TRUE(at::allclose(inverse, inverse.t(), 0, 1e-14));
  }
}

TEST(Cholesky, TheInverseDiagonalIsThatOfTheDenseInverse) {
  for (int64_t n : {1, 5, 60, 300, 501, 1010}) {
    const at::Tensor matrix = positive_matrix(n), factor = cholesky(matrix, "matrix");
    const at::Tensor expected = at::linalg_inv(matrix).diagonal();
    EXPECT_TRUE(at::allclose(inverse_diagonal_from_factor(factor), expected, 1e-9, 0)) << n;
    EXPECT_TRUE(at::allclose(inverse_from_factor(factor).diagonal(), expected, 1e-9, 0)) << n;
  }
}

TEST(Cholesky, FactorAndInverseDiagonalTogetherAreThoseOneByOne) {
  for (int64_t n : {1, 5, 60, 300, 501, 999, 1010}) {
    const at::Tensor matrix = positive_matrix(n), factor = cholesky(matrix, "matrix");
    const FactorAndDiagonal both = cholesky_and_inverse_diagonal(matrix.clone(), "matrix");
    EXPECT_LT((both.factor - factor).abs().max().item<double>(), 1e-11 * n) << n;
    EXPECT_TRUE(at::allclose(both.inverse_diagonal, inverse_diagonal_from_factor(factor), 1e-9, 0)) << n;
  }
  at::Tensor indefinite = positive_matrix(300);
  indefinite[200][200] = -1;
  try {
    cholesky_and_inverse_diagonal(indefinite.clone(), "matrix");
    ADD_FAILURE() << "an indefinite matrix has no factor";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("minor of order 201"), std::string::npos) << error.what();
  }
}

TEST(Cholesky, EveryNumberOfThreadsFactorises) {
  for (int threads : {1, 2}) {
    set_threads(threads);
    for (int64_t n : {255, 256, 257, 501, 999, 1000}) {  // where the way changes
      at::Tensor matrix = positive_matrix(n);
      const at::Tensor factor = cholesky(matrix, "matrix");
      EXPECT_LT((factor - at::linalg_cholesky(matrix)).abs().max().item<double>(), 1e-11) << n;
      for (int64_t minor : {n / 3, n - 2}) {
        at::Tensor indefinite = matrix.clone();
        indefinite[minor][minor] = -1;
        EXPECT_NE(message_of(indefinite).find("minor of order " + std::to_string(minor + 1)), std::string::npos) << n;
      }
    }
  }
  set_threads(available_cpus());
}

TEST(Cholesky, FactorIsLibtorchsAndMayUseTheMatrixsMemory) {
  const at::Tensor matrix = positive_matrix(70), expected = at::linalg_cholesky(matrix);
  EXPECT_TRUE(at::allclose(cholesky(matrix, "matrix"), expected, 1e-12, 1e-12));
  EXPECT_TRUE(cholesky(matrix, "matrix").equal(cholesky(matrix, "matrix").tril()));
  const at::Tensor by_columns = matrix.t().contiguous().t();
  EXPECT_TRUE(cholesky(by_columns, "matrix").equal(cholesky(matrix, "matrix")));
  EXPECT_TRUE(cholesky_in_place(by_columns, "matrix").equal(cholesky(matrix, "matrix")));
  at::Tensor scratch = matrix.clone();
  const at::Tensor factor = cholesky_in_place(scratch, "matrix");
  EXPECT_EQ(factor.data_ptr(), scratch.data_ptr());
  EXPECT_TRUE(factor.equal(cholesky(matrix, "matrix")));
}

TEST(Cholesky, SaysWhatIsNotPositiveDefinite) {
  at::Tensor matrix = at::eye(4, at::kDouble);
  matrix[2][2] = -1;
  const std::string message = message_of(matrix);
  EXPECT_NE(message.find("posterior precision [4, 4] is not positive definite (leading minor of order 3)"),
            std::string::npos)
      << message;
}

TEST(Cholesky, SaysWhatIsNotFinite) {
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int64_t place : {0, 1, 3}) {
      at::Tensor matrix = positive_matrix(6);
      matrix[3][place] = bad;
      matrix[place][3] = bad;
      EXPECT_NE(message_of(matrix).find("not finite"), std::string::npos) << message_of(matrix);
    }
  }
}

TEST(Cholesky, SolvesRowByRow) {
  for (const int64_t n : {1, 7, 40}) {
    const at::Tensor root = at::randn({n, n + 3}, random_stream({4}), at::kDouble);
    const at::Tensor matrix = root.mm(root.t()), factor = cholesky(matrix, "matrix");
    const at::Tensor rows = at::randn({5, n}, random_stream({5}), at::kDouble);
    EXPECT_LT((solve_lower(factor, rows).mm(factor.t()) - rows).abs().max().item<double>(), 1e-9);
    EXPECT_LT((solve_lower_transposed(factor, rows).mm(factor) - rows).abs().max().item<double>(), 1e-9);
    const at::Tensor by_rows = factor.contiguous();  // stored otherwise
    EXPECT_LT((solve_lower(by_rows, rows) - solve_lower(factor, rows)).abs().max().item<double>(), 1e-12);
    EXPECT_EQ(solve_lower(factor, rows.narrow(0, 0, 0)).size(0), 0);
  }
}

}  // namespace
}  // namespace ockham
