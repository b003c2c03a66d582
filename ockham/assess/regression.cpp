#include "ockham/assess/regression.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "ockham/assess/checked_input.h"
#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr double kLogTwoPi = 1.8378770664093454836;

struct Predictions {
  at::Tensor mean, variance, targets;  // checked, all of one shape
};

void check_same_shape(const at::Tensor& values, const char* name, const at::Tensor& mean) {
  if (values.sizes() == mean.sizes()) return;
  throw Error(ErrorKind::usage,
              fmt::format("The {} has the shape [{}], but [{}] is expected, the shape of the mean.", name,
                          fmt::join(values.sizes().vec(), ", "), fmt::join(mean.sizes().vec(), ", ")));
}

Predictions check_predictions(const at::Tensor& mean, const at::Tensor& variance, const at::Tensor& targets) {
  const Predictions checked{checked_finite(mean, "predictive mean", 2),
                            checked_finite(variance, "predictive variance", 2),
                            checked_finite(targets, "matrix of targets", 2)};
  check_same_shape(checked.variance, "predictive variance", checked.mean);
  check_same_shape(checked.targets, "matrix of targets", checked.mean);
  const double* values = checked.variance.data_ptr<double>();
  const int64_t outputs = checked.variance.size(1);
  for (int64_t i = 0; i < checked.variance.numel(); ++i) {
    if (values[i] > 0) continue;
    throw Error(ErrorKind::data, fmt::format("The predictive variance in row {}, column {} (counted from 0) is {}, but "
                                             "a positive one is expected.",
                                             i / outputs, i % outputs, values[i]));
  }
  return checked;
}

at::Tensor residuals_of(const Predictions& predictions) {
  return (predictions.targets - predictions.mean) / predictions.variance.sqrt();
}

}  // namespace

RegressionScores score_regression(const at::Tensor& mean, const at::Tensor& variance, const at::Tensor& targets) {
  const Predictions predictions = check_predictions(mean, variance, targets);
  const double examples = static_cast<double>(predictions.mean.size(0));
  const at::Tensor log_densities = -0.5 * (residuals_of(predictions).square() + predictions.variance.log() + kLogTwoPi);
  RegressionScores scores;
  scores.rmse = std::sqrt((predictions.targets - predictions.mean).square().mean().item<double>());
  scores.mean_log_density = log_densities.sum().item<double>() / examples;
  return scores;
}

at::Tensor standardise_residuals(const at::Tensor& mean, const at::Tensor& variance, const at::Tensor& targets) {
  return residuals_of(check_predictions(mean, variance, targets));
}

std::vector<CoveragePoint> measure_coverage(const at::Tensor& mean, const at::Tensor& variance,
                                            const at::Tensor& targets, const std::vector<double>& levels) {
  for (const double level : levels) {
    if (level > 0 && level < 1) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("The coverage level {} is not between 0 and 1; 0.9 asks for the central 90% interval.", level));
  }
  const at::Tensor residuals = residuals_of(check_predictions(mean, variance, targets));
  // |z| ≤ Φ⁻¹((1 + level)/2) is erf(|z|/√2) ≤ level; the complement keeps the digits of levels near one.
  const at::Tensor outside = at::erfc(residuals.abs() * M_SQRT1_2);
  std::vector<CoveragePoint> curve;
  for (const double level : levels) {
    const double inside = static_cast<double>((outside >= 1 - level).sum().item<int64_t>());
    curve.push_back({level, inside / static_cast<double>(residuals.numel())});
  }
  return curve;
}

}  // namespace ockham
