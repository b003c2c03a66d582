#include "ockham/linalg/gram.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"

namespace ockham {
namespace {

double largest_difference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

TEST(AddGramLower, AddsTheLowerTriangleAndLeavesTheUpperOne) {
  for (at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor rows = at::randn({7, 5}, type);
    at::Tensor matrix = at::ones({5, 5}, type);
    add_gram_lower(matrix, rows);
    const at::Tensor expected = at::ones({5, 5}, type) + at::mm(rows.t(), rows).tril();
    EXPECT_LT(largest_difference(matrix, expected), type == at::kFloat ? 1e-5 : 1e-14);
  }
}

TEST(AddGramLower, ReadsEveryLayoutOfRows) {
  const at::Tensor base = at::randn({12, 10}, at::kDouble);
  const std::vector<at::Tensor> layouts = {
      base.narrow(1, 2, 5),                  // rows with a gap
      base.t(),                              // by columns
      base.t().narrow(1, 3, 4),              // by columns, with a gap
      base.slice(1, 0, 10, 2),               // no unit stride
      base.slice(0, 0, 12, 3),               // every third row
      base.narrow(0, 4, 1),                  // one row
      base.narrow(1, 4, 1),                  // one column
      base.narrow(0, 0, 1).expand({6, 10}),  // stride 0
      base.narrow(1, 0, 1).expand({12, 3}),  // stride 0 along a row
      at::zeros({0, 4}, at::kDouble),        // nothing
  };
  for (const at::Tensor& rows : layouts) {
    at::Tensor matrix = at::zeros({rows.size(1), rows.size(1)}, at::kDouble);
    add_gram_lower(matrix, rows);
    EXPECT_LT(largest_difference(matrix, at::mm(rows.t(), rows).tril()), 1e-13) << rows.sizes();
  }
}

TEST(AddGramLower, RefusesWhatItCannotAdd) {
  at::Tensor matrix = at::zeros({3, 3}, at::kDouble);
  EXPECT_THROW(add_gram_lower(matrix, at::zeros({2, 4}, at::kDouble)), Error);
  EXPECT_THROW(add_gram_lower(matrix, at::zeros({2, 3}, at::kFloat)), Error);
  at::Tensor integers = at::zeros({3, 3}, at::kLong);
  EXPECT_THROW(add_gram_lower(integers, at::zeros({2, 3}, at::kLong)), Error);
}

// Around the sizes where the way changes: the second thread, threaded BLAS, many rows.
TEST(AddGramLower, IsTheSameOnEveryNumberOfThreads) {
  const std::vector<std::pair<int64_t, int64_t>> sizes = {
      {70, 127}, {70, 128}, {70, 129},  {70, 141}, {70, 501},    {70, 999},    {70, 1001},
      {2047, 3}, {2048, 3}, {2049, 65}, {3000, 1}, {2100, 1000}, {2100, 1100}, {2201, 1100}};
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (const auto& [count, n] : sizes) {
      const at::Tensor rows = at::randn({count, n}, type), columns = rows.t().contiguous().t();
      const at::Tensor start = at::randn({n, n}, type), expected = (start + rows.t().mm(rows)).tril();
      for (const int threads : {1, 2}) {
        set_threads(threads);
        for (const at::Tensor& layout : {rows, columns}) {
          at::Tensor sum = start.clone();
          add_gram_lower(sum, layout);
          EXPECT_TRUE(at::allclose(sum.tril(), expected, 1e-4, type == at::kFloat ? 1e-3 : 1e-11))
              << count << " × " << n;
          EXPECT_TRUE(sum.triu(1).equal(start.triu(1))) << n;
        }
      }
    }
  }
  set_threads(available_cpus());
}

TEST(Gram, EqualsTheProductForBothLayouts) {
  for (int64_t width : {1, 5, 33, 70}) {
    const at::Tensor rows = at::randn({40, width}, at::kDouble);
    EXPECT_TRUE(at::allclose(gram(rows), at::matmul(rows.t(), rows), 1e-13, 1e-12));
    EXPECT_TRUE(at::allclose(gram(rows.t()), at::matmul(rows, rows.t()), 1e-13, 1e-12));
  }
}

TEST(SymmetricCross, IsTheDerivativeOfTheGramMatrix) {
  const at::Tensor rows = at::randn({6, 4}, at::kDouble), other = at::randn({6, 4}, at::kDouble);
  const double h = 1e-4;
  const auto gram = [&](double t) { return at::mm((rows + t * other).t(), rows + t * other); };
  EXPECT_LT(largest_difference(symmetric_cross(rows, other), (gram(h) - gram(-h)) / (2 * h)), 1e-8);
}

TEST(GramAccumulator, SumsBatchesOfAnySize) {
  for (int64_t dimension : {3, 40, 300}) {
    GramAccumulator accumulator(dimension);
    std::vector<at::Tensor> batches;
    for (int64_t m : {1, 100, 0, 700, 256, 17}) {
      batches.push_back(at::randn({m, dimension}, at::kDouble));
      accumulator.add(batches.back());
    }
    const at::Tensor all = at::cat(batches, 0), result = accumulator.finish();
    EXPECT_EQ(result.scalar_type(), at::kDouble);
    EXPECT_TRUE(at::equal(result, result.t()));
    EXPECT_LT(largest_difference(result, at::mm(all.t(), all)), 1e-10);
    EXPECT_EQ(accumulator.finish().count_nonzero().item<int64_t>(), 0) << "it is empty afterwards";
  }
}

TEST(GramAccumulator, KeepsManyFloatSumsSafe) {
  // 2^25 ones: a float sum that adds small updates would stick at 2^24.
  GramAccumulator accumulator(2);
  const at::Tensor rows = at::ones({1 << 14, 2}, at::kFloat);
  for (int i = 0; i < (1 << 11); ++i) accumulator.add(rows);
  EXPECT_EQ(accumulator.finish()[1][0].item<double>(), static_cast<double>(int64_t{1} << 25));
}

TEST(GramAccumulator, TakesMixedTypesAndNoRowsAtAll) {
  EXPECT_TRUE(at::equal(GramAccumulator(3).finish(), at::zeros({3, 3}, at::kDouble)));
  GramAccumulator accumulator(2);
  accumulator.add(at::ones({300, 2}, at::kFloat));
  accumulator.add(at::ones({300, 2}, at::kDouble));
  EXPECT_EQ(accumulator.finish()[0][1].item<double>(), 600);
  EXPECT_THROW(accumulator.add(at::ones({3, 3})), Error);
}

}  // namespace
}  // namespace ockham
