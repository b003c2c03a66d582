#include "ockham/linalg/log_sum.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"

namespace ockham {
namespace {

struct Plain {
  long double log = 0, reciprocal = 0, magnitude = 0;
};

/// Term by term, in long double.
Plain plain_sum(const at::Tensor& x, double scale, double shift) {
  Plain sum;
  const at::Tensor flat = x.contiguous().reshape({-1});
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const long double term = static_cast<long double>(scale) * flat.data_ptr<double>()[i] + shift;
    sum.log += std::log(term);
    sum.magnitude += std::abs(std::log(term));
    sum.reciprocal += 1 / term;
  }
  return sum;
}

void expect_equal(const LogSum& actual, const Plain& expected) {
  EXPECT_LE(std::abs(actual.log - expected.log), 1e-13L * expected.magnitude + 1e-300L);
  EXPECT_LE(std::abs(actual.reciprocal - expected.reciprocal), 1e-13L * expected.reciprocal);
}

TEST(LogSum, EqualsThePlainSumForEverySize) {
  for (int64_t n : {1, 7, 8, 9, 31, 32, 33, 63, 100, 16383, 16384, 16385, 40000, 100003}) {
    const at::Tensor x = at::rand({n}, at::kDouble).pow(8);
    expect_equal(log_sum(x, 3.7, 0.01), plain_sum(x, 3.7, 0.01));
  }
}

TEST(LogSumOuter, EqualsThePlainSumForEveryShape) {
  for (auto [a, b] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {10, 784}, {129, 65}, {2, 40001}, {512, 300}}) {
    const at::Tensor q = at::rand({a}, at::kDouble).pow(4), w = at::rand({b}, at::kDouble).pow(4);
    const Plain expected = plain_sum(at::outer(q, w), 250.0, 0.3);
    expect_equal(log_sum_outer(q, w, 250.0, 0.3), expected);
    expect_equal(log_sum_outer(w, q, 250.0, 0.3), expected);
  }
}

TEST(LogSum, RenormalisesLongProducts) {
  // All mantissas just below 2: the fastest growth of the product.
  const at::Tensor x = at::full({200000}, std::nextafter(2.0, 1.0), at::kDouble), zero = at::zeros_like(x);
  expect_equal(log_sum(x, 1, 0), plain_sum(x, 1, 0));
  expect_equal(log_sum_outer(at::ones({3}, at::kDouble), x, 1, 0), plain_sum(x.repeat({3}), 1, 0));
  expect_equal(log_sum(zero, 1, 1.9), plain_sum(zero, 1, 1.9));
}

TEST(LogSum, TakesTinyAndHugeNumbers) {
  // 10^(-300 … 300), the subnormal 10^-308, and zeros beside the shift.
  const at::Tensor exponents = at::linspace(-300, 300, 5001, at::kDouble);
  const at::Tensor x = at::cat({at::pow(10, exponents), at::full({1}, 1e-308, at::kDouble)});
  expect_equal(log_sum(x, 1, 0), plain_sum(x, 1, 0));
  expect_equal(log_sum(x, 1, 1e-250), plain_sum(x, 1, 1e-250));
  expect_equal(log_sum(at::zeros({100}, at::kDouble), 5, 1e-300), plain_sum(at::zeros({100}, at::kDouble), 5, 1e-300));
  const at::Tensor q = at::tensor({0.0, 1e-200, 1e150}, at::kDouble),
                   w = at::pow(10, at::linspace(-90, 90, 77, at::kDouble));
  expect_equal(log_sum_outer(q, w, 2, 1e-70), plain_sum(at::outer(q, w), 2, 1e-70));
}

TEST(LogSum, IsTheSameForEveryNumberOfThreads) {
  const at::Tensor q = at::rand({2500}, at::kDouble), w = at::rand({2000}, at::kDouble);
  set_threads(1);
  const LogSum one = log_sum_outer(q, w, 2, 0.1);
  set_threads(2);
  const LogSum two = log_sum_outer(q, w, 2, 0.1);
  set_threads(available_cpus());
  EXPECT_EQ(one.log, two.log);
  EXPECT_EQ(one.reciprocal, two.reciprocal);
}

TEST(LogSum, PassesOnWhatIsNotANumber) {
  for (int64_t place : {0, 5, 39}) {
    at::Tensor x = at::ones({40}, at::kDouble);
    x[place] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(log_sum(x, 1, 1).log)) << place;
    EXPECT_TRUE(std::isnan(log_sum_outer(x, at::ones({50}, at::kDouble), 1, 1).log)) << place;
    EXPECT_TRUE(std::isnan(log_sum_outer(x, at::ones({2}, at::kDouble), 1, 1).log)) << place;
  }
}

TEST(LogSum, IsZeroForNothingAndRefusesOtherTypes) {
  EXPECT_EQ(log_sum(at::zeros({0}, at::kDouble), 1, 1).log, 0);
  EXPECT_EQ(log_sum_outer(at::zeros({0}, at::kDouble), at::ones({3}, at::kDouble), 1, 1).reciprocal, 0);
  EXPECT_THROW(log_sum(at::ones({3}, at::kFloat), 1, 1), Error);
  EXPECT_THROW(log_sum(at::ones({3, 3}, at::kDouble), 1, 1), Error);
}

}  // namespace
}  // namespace ockham
