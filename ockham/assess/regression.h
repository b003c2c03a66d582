// How good Gaussian predictions are: error, log density, and whether the intervals hold what they promise.
//
// Everywhere: mean, variance and targets [N, C] floating point and finite, variance > 0; the variance is that of y
// (epistemic and noise). Outputs are taken as independent given the input.
// Throws Error(usage) for wrong types and shapes, Error(data) for empty input, values that are not finite and
// variances that are not positive.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ockham {

struct RegressionScores {
  double rmse = 0;              // sqrt of the mean of (y - mean)² over examples and outputs
  double mean_log_density = 0;  // (1/N) Σ_n Σ_c log N(y[n, c] | mean[n, c], variance[n, c]): a sum over the outputs
};

RegressionScores score_regression(const at::Tensor& mean, const at::Tensor& variance, const at::Tensor& targets);

/// z = (y - mean) / sqrt(variance), float64 [N, C]; standard normal for a calibrated prediction.
at::Tensor standardise_residuals(const at::Tensor& mean, const at::Tensor& variance, const at::Tensor& targets);

struct CoveragePoint {
  double level = 0;     // what the interval promises
  double coverage = 0;  // share of the N·C targets inside it
};

/// The calibration curve: for each level in (0, 1), the share of targets in the central interval
/// mean ± Φ⁻¹((1 + level)/2) sqrt(variance), in the order of the levels. Throws Error(usage) for other levels.
std::vector<CoveragePoint> measure_coverage(const at::Tensor& mean, const at::Tensor& variance,
                                            const at::Tensor& targets, const std::vector<double>& levels);

}  // namespace ockham
