#include "ockham/curvature/curvature.h"

#include <gtest/gtest.h>

#include "tests/curvature/decomposed_cases.h"

namespace ockham {
namespace {

TEST(Dense, PutsBlocksInTheirPlaces) {
  KroneckerBlock grouped;
  grouped.parameter = 1;
  grouped.left = at::tensor({2.0, 3.0}, at::kDouble).view({2, 1, 1});
  grouped.right = at::stack({at::eye(2, at::kDouble), at::ones({2, 2}, at::kDouble)});
  DenseBlock rows;
  rows.parameters = {2, 0};  // not in the order of the layout
  rows.rows = at::tensor({1.0, 2.0, 3.0}, at::kDouble).view({1, 3});
  rows.factor = 0.5;
  const at::Tensor matrix = dense({{grouped, rows}}, {2, 4, 1});
  const at::Tensor expected = at::zeros({7, 7}, at::kDouble);
  expected[2][2] = 2;
  expected[3][3] = 2;
  expected.narrow(0, 4, 2).narrow(1, 4, 2).fill_(3);
  const double order[3] = {2, 3, 1};  // weights 0, 1 of the first parameter, then the last parameter
  const int64_t place[3] = {0, 1, 6};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) expected[place[i]][place[j]] = 0.5 * order[i] * order[j];
  }
  EXPECT_TRUE(at::equal(matrix, expected)) << matrix;
}

}  // namespace
}  // namespace ockham
