#include "ockham/assess/classification.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/assess/checked_input.h"
#include "ockham/base/error.h"

namespace ockham {
namespace {

// Wide enough for float32 softmax rows over many classes, far too narrow for logits.
constexpr double kRowSumTolerance = 1e-4;

struct Predictions {
  at::Tensor probabilities, targets;  // checked and contiguous
  int64_t examples, classes;

  const double* row(int64_t n) const { return probabilities.data_ptr<double>() + n * classes; }
  int64_t target(int64_t n) const { return targets.data_ptr<int64_t>()[n]; }
  int64_t predicted(int64_t n) const { return std::max_element(row(n), row(n) + classes) - row(n); }
};

void check_row(const Predictions& predictions, int64_t n) {
  double sum = 0;
  for (int64_t c = 0; c < predictions.classes; ++c) {
    const double probability = predictions.row(n)[c];
    if (probability < 0) {
      throw Error(ErrorKind::data, fmt::format("The probability in row {}, column {} (counted from 0) is {}, but none "
                                               "may be negative; give probabilities, not logits.",
                                               n, c, probability));
    }
    sum += probability;
  }
  if (std::abs(sum - 1) > kRowSumTolerance) {
    throw Error(ErrorKind::data, fmt::format("The probabilities of row {} (counted from 0) sum to {}, but 1 is "
                                             "expected; give the softmax of the logits.",
                                             n, sum));
  }
  const int64_t target = predictions.target(n);
  if (target < 0 || target >= predictions.classes) {
    throw Error(ErrorKind::data, fmt::format("The target in row {} (counted from 0) is {}, but a class from 0 to {} is "
                                             "expected for {} columns of probabilities.",
                                             n, target, predictions.classes - 1, predictions.classes));
  }
}

Predictions check_predictions(const at::Tensor& probabilities, const at::Tensor& targets) {
  Predictions checked{checked_finite(probabilities, "matrix of probabilities", 2), targets, probabilities.size(0),
                      probabilities.size(1)};
  if (!targets.defined() || targets.scalar_type() != at::kLong) {
    throw Error(ErrorKind::usage,
                fmt::format("The targets are {}, but int64 classes are expected; convert them with .to(at::kLong).",
                            targets.defined() ? c10::toString(targets.scalar_type()) : "an undefined tensor"));
  }
  if (targets.dim() != 1 || targets.size(0) != checked.examples) {
    throw Error(ErrorKind::usage, fmt::format("The targets have the shape [{}], but [{}] is expected: one class for "
                                              "each row of the probabilities.",
                                              fmt::join(targets.sizes().vec(), ", "), checked.examples));
  }
  checked.targets = targets.to(at::kCPU).contiguous();
  for (int64_t n = 0; n < checked.examples; ++n) check_row(checked, n);
  return checked;
}

double squared_distance(const Predictions& predictions, int64_t n) {
  double sum = 0;
  for (int64_t c = 0; c < predictions.classes; ++c) {
    const double difference = predictions.row(n)[c] - (c == predictions.target(n) ? 1 : 0);
    sum += difference * difference;
  }
  return sum;
}

std::vector<ReliabilityBin> make_bins(int64_t bins) {
  if (bins < 1) {
    throw Error(ErrorKind::usage,
                fmt::format("The number of reliability bins is {}, but at least 1 is expected.", bins));
  }
  std::vector<ReliabilityBin> table(bins);
  for (int64_t b = 0; b < bins; ++b) {
    table[b].lower = static_cast<double>(b) / static_cast<double>(bins);
    table[b].upper = static_cast<double>(b + 1) / static_cast<double>(bins);
  }
  return table;
}

}  // namespace

ClassificationScores score_classification(const at::Tensor& probabilities, const at::Tensor& targets) {
  const Predictions predictions = check_predictions(probabilities, targets);
  const double examples = static_cast<double>(predictions.examples);
  ClassificationScores scores;
  int64_t right = 0;
  for (int64_t n = 0; n < predictions.examples; ++n) {
    const double probability = predictions.row(n)[predictions.target(n)];
    right += predictions.predicted(n) == predictions.target(n);
    scores.floored += probability < probability_floor;
    scores.mean_log_likelihood += std::log(std::max(probability, probability_floor));
    scores.brier += squared_distance(predictions, n);
  }
  scores.accuracy = static_cast<double>(right) / examples;
  scores.mean_log_likelihood /= examples;
  scores.brier /= examples;
  return scores;
}

std::vector<ReliabilityBin> tabulate_reliability(const at::Tensor& probabilities, const at::Tensor& targets,
                                                 int64_t bins) {
  std::vector<ReliabilityBin> table = make_bins(bins);
  const Predictions predictions = check_predictions(probabilities, targets);
  for (int64_t n = 0; n < predictions.examples; ++n) {
    const int64_t predicted = predictions.predicted(n);
    const double confidence = predictions.row(n)[predicted];
    // By comparison with the edges themselves: ceil(confidence · B) rounds some confidences across an edge. The last
    // bin also takes what round-off put above 1.
    const auto bin = std::lower_bound(table.begin(), table.end() - 1, confidence,
                                      [](const ReliabilityBin& b, double value) { return b.upper < value; });
    ++bin->count;
    bin->mean_confidence += confidence;
    bin->accuracy += predicted == predictions.target(n);
  }
  for (ReliabilityBin& bin : table) {
    if (bin.count == 0) continue;
    bin.mean_confidence /= static_cast<double>(bin.count);
    bin.accuracy /= static_cast<double>(bin.count);
  }
  return table;
}

double expected_calibration_error(const std::vector<ReliabilityBin>& table) {
  int64_t examples = 0;
  double sum = 0;
  for (const ReliabilityBin& bin : table) {
    if (bin.count == 0) continue;
    examples += bin.count;
    sum += static_cast<double>(bin.count) * std::abs(bin.accuracy - bin.mean_confidence);
  }
  if (examples == 0)
    throw Error(ErrorKind::data, "The reliability table counts no example, so it has no calibration error.");
  return sum / static_cast<double>(examples);
}

double expected_calibration_error(const at::Tensor& probabilities, const at::Tensor& targets, int64_t bins) {
  return expected_calibration_error(tabulate_reliability(probabilities, targets, bins));
}

at::Tensor count_confusions(const at::Tensor& probabilities, const at::Tensor& targets) {
  const Predictions predictions = check_predictions(probabilities, targets);
  at::Tensor counts = at::zeros({predictions.classes, predictions.classes}, at::kLong);
  int64_t* values = counts.data_ptr<int64_t>();
  for (int64_t n = 0; n < predictions.examples; ++n)
    ++values[predictions.target(n) * predictions.classes + predictions.predicted(n)];
  return counts;
}

}  // namespace ockham
