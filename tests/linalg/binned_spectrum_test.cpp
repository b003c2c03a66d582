#include "ockham/linalg/binned_spectrum.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ockham/base/random.h"

namespace ockham {
namespace {

/// Over many octaves, with zeros among them.
at::Tensor spectrum(int64_t count, uint64_t key, double octaves) {
  at::Tensor values = at::exp2(octaves * at::randn({count}, random_stream({key}), at::kDouble));
  values.masked_fill_(at::rand({count}, random_stream({key, 1}), at::kDouble) < 0.1, 0);
  return values;
}

void expect_same(const LogSum& binned, const LogSum& plain, double count) {
  EXPECT_NEAR(binned.log, plain.log, 1e-13 * count + 1e-12 * std::abs(plain.log));
  EXPECT_NEAR(binned.reciprocal, plain.reciprocal, 1e-12 * plain.reciprocal);
}

TEST(BinnedSpectrum, EqualsTheSumOverAllValues) {
  for (const double octaves : {0.01, 3.0, 40.0}) {
    const at::Tensor values = spectrum(20001, 1, octaves);
    const BinnedSpectrum bins(values);
    ASSERT_TRUE(bins.usable());
    for (const double scale : {1e-8, 0.3, 1.0, 1e12}) {
      for (const double shift : {1e-10, 1.0, 1e6})
        expect_same(bins.log_sum(scale, shift), log_sum(values, scale, shift), 20001);
    }
  }
}

TEST(BinnedSpectrum, EqualsTheSumOverAllProducts) {
  const at::Tensor left = spectrum(151, 2, 5), right = spectrum(90, 3, 5);
  for (const BinnedSpectrum& bins : {BinnedSpectrum(left, right), BinnedSpectrum(right, left)}) {
    ASSERT_TRUE(bins.usable());
    for (const double shift : {1e-6, 1.0, 1e3})
      expect_same(bins.log_sum(0.7, shift), log_sum_outer(left, right, 0.7, shift), 151 * 90);
  }
}

TEST(BinnedSpectrum, RefusesValuesThatHaveNoBin) {
  for (const double odd : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::denorm_min()}) {
    at::Tensor values = at::ones({10}, at::kDouble);
    values[3] = odd;
    EXPECT_FALSE(BinnedSpectrum(values).usable()) << odd;
  }
  EXPECT_TRUE(BinnedSpectrum(at::zeros({4}, at::kDouble)).usable());
  EXPECT_EQ(BinnedSpectrum(at::empty({0}, at::kDouble)).log_sum(1, 2).log, 0);
}

}  // namespace
}  // namespace ockham
