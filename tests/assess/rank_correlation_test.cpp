#include "ockham/assess/rank_correlation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using ockham::testing::expect_error;

at::Tensor values(std::vector<double> numbers) { return at::tensor(numbers, at::kDouble); }

TEST(RankCorrelation, AverageRanks) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(at::equal(average_ranks(values({30, 10, 20})), values({3, 1, 2})));
  EXPECT_TRUE(at::equal(average_ranks(values({5, 1, 5, 7, 5, 1})), values({4, 1.5, 4, 6, 4, 1.5})));
  EXPECT_TRUE(at::equal(average_ranks(values({0.0, infinite, -0.0, -infinite})), values({2.5, 4, 2.5, 1})));
  EXPECT_TRUE(at::equal(average_ranks(values({8})), values({1})));
}

TEST(RankCorrelation, RanksAreCountsOfSmallerAndEqualValues) {
  at::Generator generator = random_stream({14});
  const at::Tensor x = at::randint(20, {150}, generator, at::kDouble);
  const at::Tensor smaller = (x.unsqueeze(0) < x.unsqueeze(1)).sum(1),
                   equal = (x.unsqueeze(0) == x.unsqueeze(1)).sum(1);
  EXPECT_TRUE(at::equal(average_ranks(x), smaller.to(at::kDouble) + 0.5 * (equal.to(at::kDouble) + 1)));
}

TEST(RankCorrelation, ClosedFormWithoutTies) {
  at::Generator generator = random_stream({15});
  for (int64_t n : {2, 5, 50}) {
    const at::Tensor p = at::randperm(n, generator, at::kLong).to(at::kDouble), q = at::arange(n, at::kDouble);
    const double count = static_cast<double>(n), squares = (p - q).square().sum().item<double>();
    const double expected = 1 - 6 * squares / (count * (count * count - 1));
    EXPECT_NEAR(spearman_correlation(p, q), expected, 1e-14);
    EXPECT_NEAR(spearman_correlation(q, p), expected, 1e-14);
    // Only the order counts.
    EXPECT_EQ(spearman_correlation(p.exp(), q), spearman_correlation(p, q));
    EXPECT_EQ(spearman_correlation(-p, q), -spearman_correlation(p, q));
  }
}

TEST(RankCorrelation, HandComputedWithTies) {
  // Centred ranks (-1.5, 0, 0, 1.5) and (-1.5, 0.5, -0.5, 1.5): 4.5 / sqrt(4.5 · 5).
  EXPECT_NEAR(spearman_correlation(values({1, 2, 2, 3}), values({1, 3, 2, 4})), 0.9486832980505138, 1e-15);
  // Centred ranks (-1, -1, 1, 1) and (-1, 1, -1, 1).
  EXPECT_EQ(spearman_correlation(values({0, 0, 1, 1}), values({0, 1, 0, 1})), 0);
}

TEST(RankCorrelation, MonotoneRelationsAreExactlyOne) {
  at::Generator generator = random_stream({16});
  for (int64_t n : {2, 3, 7, 1001}) {
    const at::Tensor x = at::randn({n}, generator, at::kDouble);
    EXPECT_EQ(spearman_correlation(x, x.pow(3)), 1);
    EXPECT_EQ(spearman_correlation(x, -x.exp()), -1);
  }
}

TEST(RankCorrelation, Refusals) {
  const at::Tensor good = values({1, 2, 3});
  expect_error(ErrorKind::usage, {"3 values", "2 on the other"}, [&] { spearman_correlation(good, values({1, 2})); });
  expect_error(ErrorKind::usage, {"[1, 3]", "[N]"}, [&] { average_ranks(good.unsqueeze(0)); });
  expect_error(ErrorKind::usage, {"Long"}, [&] { average_ranks(good.to(at::kLong)); });
  expect_error(ErrorKind::data, {"empty"}, [&] { average_ranks(values({})); });
  expect_error(ErrorKind::data, {"row 1", "nan"}, [&] { average_ranks(values({1, std::nan(""), 3})); });
  expect_error(ErrorKind::data, {"at least 2"}, [&] { spearman_correlation(values({1}), values({1})); });
  expect_error(ErrorKind::data, {"not defined", "first"}, [&] { spearman_correlation(values({4, 4, 4}), good); });
  expect_error(ErrorKind::data, {"not defined", "second"}, [&] { spearman_correlation(good, values({4, 4, 4})); });
}

}  // namespace
}  // namespace ockham
