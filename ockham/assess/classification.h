// How good class probabilities are: accuracy, log likelihood, Brier score, calibration, and which classes are confused.
//
// Everywhere: probabilities [N, C] floating point, rows that sum to one within 1e-4; targets [N] int64 in 0 .. C - 1.
// The predicted class is the one of the largest probability (the confidence), the first one among equals.
// Throws Error(usage) for wrong types and shapes, Error(data) for empty input, targets out of range and rows that are
// no probabilities.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace ockham {

/// Probabilities below the smallest normal double, 2.2e-308, count as that one in the log likelihood: log = -708.4.
inline constexpr double probability_floor = std::numeric_limits<double>::min();

struct ClassificationScores {
  double accuracy = 0;             // share of examples whose predicted class is the target
  double mean_log_likelihood = 0;  // (1/N) Σ_n log p[n, y_n]
  double brier = 0;                // (1/N) Σ_n Σ_c (p[n, c] - [c = y_n])², between 0 and 2
  int64_t floored = 0;             // examples whose p[n, y_n] was raised to the floor
};

ClassificationScores score_classification(const at::Tensor& probabilities, const at::Tensor& targets);

/// Examples with a confidence in (lower, upper].
struct ReliabilityBin {
  double lower = 0, upper = 0;
  int64_t count = 0;
  double mean_confidence = 0;  // 0 in an empty bin
  double accuracy = 0;         // 0 in an empty bin
};

/// B bins of equal width over the confidence: bin b holds (b/B, (b+1)/B], with b/B as a double. Empty bins are in the
/// table, with a count of 0.
std::vector<ReliabilityBin> tabulate_reliability(const at::Tensor& probabilities, const at::Tensor& targets,
                                                 int64_t bins = 15);

/// Expected calibration error (ECE): Σ_b count_b/N · |accuracy_b - mean_confidence_b|; empty bins are skipped.
double expected_calibration_error(const std::vector<ReliabilityBin>& table);
double expected_calibration_error(const at::Tensor& probabilities, const at::Tensor& targets, int64_t bins = 15);

/// int64 [C, C]: entry [i, j] counts the examples of class i that are predicted as class j.
at::Tensor count_confusions(const at::Tensor& probabilities, const at::Tensor& targets);

}  // namespace ockham
