#include "ockham/assess/regression.h"

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

at::Tensor matrix(std::vector<double> values) { return at::tensor(values, at::kDouble).reshape({-1, 2}); }

TEST(Regression, HandComputedScores) {
  // Residuals 1, -2, 0, 4 with deviations 1, 2, 0.5, 2: z = 1, -1, 0, 2.
  const at::Tensor mean = matrix({1, 5, 0, -1}), variance = matrix({1, 4, 0.25, 4}), targets = matrix({2, 3, 0, 3});
  const RegressionScores scores = score_regression(mean, variance, targets);
  EXPECT_DOUBLE_EQ(scores.rmse, std::sqrt((1.0 + 4 + 0 + 16) / 4));
  // Half of Σ z² = 6 and of Σ log v = log 4 over four values, two examples.
  EXPECT_NEAR(scores.mean_log_density, -0.5 * (4 * std::log(2 * M_PI) + 6 + std::log(4.0)) / 2, 1e-14);
  EXPECT_TRUE(at::equal(standardise_residuals(mean, variance, targets), matrix({1, -1, 0, 2})));
  // Half-widths 0.674 and 1.15: between |z| = 0 and 1, and between 1 and 2.
  const std::vector<CoveragePoint> curve = measure_coverage(mean, variance, targets, {0.75, 0.5, 0.99});
  ASSERT_EQ(curve.size(), 3u);
  EXPECT_EQ(curve[0].level, 0.75);
  EXPECT_EQ(curve[0].coverage, 0.75);
  EXPECT_EQ(curve[1].coverage, 0.25);
  EXPECT_EQ(curve[2].coverage, 1);
}

TEST(Regression, LogDensityIsThatOfADiagonalGaussian) {
  at::Generator generator = random_stream({12});
  const int64_t n = 40, outputs = 3;
  const at::Tensor mean = at::randn({n, outputs}, generator, at::kDouble);
  const at::Tensor targets = at::randn({n, outputs}, generator, at::kDouble);
  const at::Tensor variance = at::randn({n, outputs}, generator, at::kDouble).exp();
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const at::Tensor covariance = at::diag(variance[i]), r = targets[i] - mean[i];
    const double determinant = at::det(covariance).item<double>();
    const double form = r.dot(at::mv(at::inverse(covariance), r)).item<double>();
    sum += std::log(std::exp(-0.5 * form) / std::sqrt(std::pow(2 * M_PI, outputs) * determinant));
  }
  EXPECT_NEAR(score_regression(mean, variance, targets).mean_log_density, sum / n, 1e-12);
}

TEST(Regression, ExpectedLogDensityOfACalibratedPredictionIsMinusTheEntropy) {
  at::Generator generator = random_stream({13});
  const at::Tensor noise = at::randn({200000, 1}, generator, at::kDouble), mean = 7 + at::zeros_like(noise);
  const double deviation = 0.3, entropy = 0.5 * std::log(2 * M_PI * M_E * deviation * deviation);
  const at::Tensor variance = at::full_like(mean, deviation * deviation);
  const RegressionScores scores = score_regression(mean, variance, mean + deviation * noise);
  EXPECT_NEAR(scores.mean_log_density, -entropy, 6 * std::sqrt(0.5 / 200000));
  EXPECT_NEAR(scores.rmse, deviation, 6 * deviation / std::sqrt(2 * 200000.0));
}

TEST(Regression, CoverageIsTheLevelOnNormalQuantiles) {
  const int64_t n = 1000;
  const at::Tensor shares = (at::arange(n, at::kDouble) + 0.5) / n;
  const at::Tensor normal = (M_SQRT2 * at::erfinv(2 * shares - 1)).reshape({-1, 2});
  const at::Tensor mean = at::full_like(normal, -3), variance = at::full_like(normal, 0.04);
  std::vector<double> levels;
  for (int percent = 5; percent < 100; percent += 5) levels.push_back(percent / 100.0);
  for (const CoveragePoint& point : measure_coverage(mean, variance, mean + 0.2 * normal, levels))
    EXPECT_NEAR(point.coverage, point.level, 1.001 / n) << point.level;
  // Deviations that are twice too large: |z| ≤ 2 Φ⁻¹((1 + level)/2), for level 0.5 the share erf(2 · 0.4769...).
  const auto wide = measure_coverage(mean, 4 * variance, mean + 0.2 * normal, {0.5});
  EXPECT_NEAR(wide[0].coverage, std::erf(2 * 0.47693627620446987), 2.0 / n);
}

TEST(Regression, CoverageTurnsAtTheKnownQuantiles) {
  const std::vector<std::pair<double, double>> quantiles = {
      {0.5, 0.6744897501960817}, {0.9, 1.6448536269514722}, {0.95, 1.959963984540054}, {0.999, 3.2905267314918945}};
  const at::Tensor zero = at::zeros({1, 1}, at::kDouble), one = at::ones({1, 1}, at::kDouble);
  for (const auto& [level, quantile] : quantiles) {
    for (double sign : {-1.0, 1.0}) {
      EXPECT_EQ(measure_coverage(zero, one, sign * quantile * (1 - 1e-12) * one, {level})[0].coverage, 1) << level;
      EXPECT_EQ(measure_coverage(zero, one, sign * quantile * (1 + 1e-12) * one, {level})[0].coverage, 0) << level;
    }
  }
}

TEST(Regression, RefusesWrongShapesAndLevels) {
  const at::Tensor good = matrix({1, 2, 3, 4}), wide = at::ones({2, 3}, at::kDouble), flat = at::ones({2}, at::kDouble);
  const auto usage = [](const std::vector<std::string>& mentioned, const at::Tensor& m, const at::Tensor& v,
                        const at::Tensor& y) {
    expect_error(ErrorKind::usage, mentioned, [&] { score_regression(m, v, y); });
    expect_error(ErrorKind::usage, mentioned, [&] { standardise_residuals(m, v, y); });
    expect_error(ErrorKind::usage, mentioned, [&] { measure_coverage(m, v, y, {0.5}); });
  };
  usage({"mean", "[2]", "[N, C]"}, flat, flat, flat);
  usage({"variance", "[2, 3]", "[2, 2]"}, good, wide, good);
  usage({"targets", "[2, 3]", "[2, 2]"}, good, good, wide);
  usage({"targets", "[2]", "[N, C]"}, good, good, flat);  // must not broadcast
  usage({"targets", "Long"}, good, good, good.to(at::kLong));
  usage({"variance", "undefined"}, good, at::Tensor(), good);
  for (double level : {0.0, 1.0, -0.1, 95.0, std::nan("")})
    expect_error(ErrorKind::usage, {"level", "between 0 and 1"}, [&] { measure_coverage(good, good, good, {level}); });
}

TEST(Regression, RefusesBadData) {
  const at::Tensor good = matrix({1, 2, 3, 4}), none = at::zeros({0, 2}, at::kDouble);
  const auto data = [](const std::vector<std::string>& mentioned, const at::Tensor& m, const at::Tensor& v,
                       const at::Tensor& y) {
    expect_error(ErrorKind::data, mentioned, [&] { score_regression(m, v, y); });
  };
  data({"mean", "empty"}, none, none, none);
  data({"variance", "row 1, column 0", "is 0"}, good, matrix({1, 1, 0, 1}), good);
  data({"variance", "row 0, column 1", "-2"}, good, matrix({1, -2, 1, 1}), good);
  data({"mean", "row 0, column 0", "nan"}, matrix({std::nan(""), 1, 1, 1}), good, good);
  data({"targets", "row 1, column 1", "inf"}, good, good, matrix({1, 1, 1, std::numeric_limits<double>::infinity()}));
}

}  // namespace
}  // namespace ockham
