#include "ockham/linalg/product_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "ockham/base/platform.h"

namespace ockham {
namespace {

at::Tensor rows_of(const ProductRows& part) { return (part.left.unsqueeze(2) * part.right.unsqueeze(1)).flatten(1); }

void expect_as_dense(const std::vector<ProductRows>& parts, const at::Tensor& columns) {
  at::Tensor matrix = at::eye(columns.size(0), at::kDouble);
  for (const ProductRows& part : parts) matrix += rows_of(part).mm(rows_of(part).t());
  const at::Tensor inverse = at::linalg_inv(matrix);
  const WhitenedColumns whitened = whiten_columns(parts, columns);
  EXPECT_NEAR(whitened.log_determinant, at::logdet(matrix).item<double>(), 1e-9);
  EXPECT_NEAR(whitened.inverse_trace, inverse.trace().item<double>(), 1e-9);
  const at::Tensor expected = (columns * inverse.mm(columns)).sum(0);
  EXPECT_TRUE(at::allclose(whitened.squared_norms, expected, 1e-9, 1e-10));
}

TEST(WhitenColumns, EqualsDenseMatrices) {
  const int before = available_cpus();
  for (const int threads : {1, 2}) {
    set_threads(threads);
    for (const int64_t m : {1, 5, 70, 260}) {
      const auto draw = [&](int64_t width) { return at::randn({m, width}, at::kDouble); };
      const at::Tensor shared = draw(4), ones = at::ones({m, 1}, at::kDouble);
      expect_as_dense({{shared, draw(3)}, {shared, ones}, {ones, draw(5)}, {ones, ones}}, draw(6));
      expect_as_dense({{draw(4), draw(3)}, {draw(2), draw(2)}}, draw(1));
      expect_as_dense({{draw(7), ones}}, draw(3));
      expect_as_dense({{shared, draw(3)}}, at::empty({m, 0}, at::kDouble));
    }
  }
  set_threads(before);
}

TEST(WhitenColumns, LeavesColumnsAsTheyAreAndSaysWhatIsNotFinite) {
  const at::Tensor columns = at::randn({6, 30}, at::kDouble).t(), copy = columns.clone();
  whiten_columns({{at::randn({30, 2}, at::kDouble), at::randn({30, 2}, at::kDouble)}}, columns);
  EXPECT_TRUE(columns.equal(copy));
  at::Tensor bad = at::randn({30, 2}, at::kDouble);
  bad[3][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(whiten_columns({{bad, at::randn({30, 2}, at::kDouble)}}, columns).squared_norms.defined());
}

}  // namespace
}  // namespace ockham
