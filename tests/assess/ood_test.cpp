#include "ockham/assess/ood.h"

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

TEST(AreaUnderRoc, HandComputed) {
  EXPECT_EQ(area_under_roc(values({1, 2, 3}), values({4, 5})), 1);
  EXPECT_EQ(area_under_roc(values({4, 5}), values({1, 2, 3})), 0);
  EXPECT_EQ(area_under_roc(values({7, 7}), values({7, 7, 7})), 0.5);
  // Pairs (in, out): 1<2, 1<3, 2=2, 2<3, 4>2, 4>3: 3.5 of 6.
  EXPECT_DOUBLE_EQ(area_under_roc(values({1, 2, 4}), values({2, 3})), 3.5 / 6);
  EXPECT_EQ(area_under_roc(values({0, 1}), values({std::numeric_limits<double>::infinity()})), 1);
}

TEST(AreaUnderRoc, EqualsTheShareOfPairsWithManyTies) {
  at::Generator generator = random_stream({17});
  for (int64_t different : {2, 5, 1000}) {
    const at::Tensor in = at::randint(different, {130}, generator, at::kDouble);
    const at::Tensor out = at::randint(different, {70}, generator, at::kDouble) + 1;
    const at::Tensor difference = out.unsqueeze(1) - in.unsqueeze(0);
    const double larger = static_cast<double>((difference > 0).sum().item<int64_t>());
    const double equal = static_cast<double>((difference == 0).sum().item<int64_t>());
    EXPECT_EQ(area_under_roc(in, out), (larger + 0.5 * equal) / (130.0 * 70.0)) << different;
    EXPECT_NEAR(area_under_roc(out, in), 1 - area_under_roc(in, out), 1e-15) << different;
  }
}

TEST(AreaUnderRoc, OfTwoNormalDistributions) {
  const int64_t n = 4000;
  const at::Tensor normal = M_SQRT2 * at::erfinv((2 * at::arange(n, at::kDouble) + 1) / n - 1);
  for (double shift : {0.0, 0.5, 2.0}) {
    const double expected = 0.5 * std::erfc(-shift / 2);  // Φ(shift / √2)
    EXPECT_NEAR(area_under_roc(normal, normal + shift), expected, 1e-3) << shift;
  }
}

TEST(AreaUnderRoc, Refusals) {
  const at::Tensor good = values({1, 2, 3});
  expect_error(ErrorKind::data, {"inside", "empty"}, [&] { area_under_roc(values({}), good); });
  expect_error(ErrorKind::data, {"outside", "empty"}, [&] { area_under_roc(good, values({})); });
  expect_error(ErrorKind::data, {"outside", "row 0", "nan"}, [&] { area_under_roc(good, values({std::nan("")})); });
  expect_error(ErrorKind::usage, {"inside", "[3, 1]"}, [&] { area_under_roc(good.unsqueeze(1), good); });
  expect_error(ErrorKind::usage, {"outside", "undefined"}, [&] { area_under_roc(good, at::Tensor()); });
}

TEST(PredictiveEntropy, IsZeroForACertainAndLogCForAnUndecidedPrediction) {
  const at::Tensor entropy =
      predictive_entropy(values({1, 0, 0, 0, 0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0, 0}).reshape({3, 4}));
  EXPECT_EQ(entropy[0].item<double>(), 0);
  EXPECT_NEAR(entropy[1].item<double>(), std::log(4.0), 1e-15);
  EXPECT_NEAR(entropy[2].item<double>(), std::log(2.0), 1e-15);
}

}  // namespace
}  // namespace ockham
