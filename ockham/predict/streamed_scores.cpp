#include "ockham/predict/streamed_scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"

namespace ockham {
namespace {

/// The mean of two groups. The first group that comes gives its own, to the last bit.
double merge(double mean, int64_t count, double other, int64_t others) {
  return mean + (other - mean) * (static_cast<double>(others) / static_cast<double>(count + others));
}

void merge(std::optional<double>& mean, int64_t count, const std::optional<double>& other, int64_t others) {
  if (other) mean = merge(mean.value_or(0), count, *other, others);
}

void merge(std::vector<ReliabilityBin>& table, const std::vector<ReliabilityBin>& other) {
  if (table.empty()) {
    table = other;
    return;
  }
  for (size_t b = 0; b < table.size(); ++b) {
    ReliabilityBin& bin = table[b];
    if (other[b].count == 0) continue;
    bin.mean_confidence = merge(bin.mean_confidence, bin.count, other[b].mean_confidence, other[b].count);
    bin.accuracy = merge(bin.accuracy, bin.count, other[b].accuracy, other[b].count);
    bin.count += other[b].count;
  }
}

}  // namespace

StreamedScores::StreamedScores(const TrainedModel& trained, const ScoreOptions& options)
    : trained_(trained), options_(options) {}

void StreamedScores::add(const Dataset& part) {
  const at::Tensor outputs = predict_outputs(trained_, part.inputs(), options_.map_progress);
  const PredictiveScores scores = score_outputs(trained_.model, trained_.encoding, part, outputs);
  const int64_t before = map_.examples;
  keep_sample(part);
  if (before == 0) {
    map_ = scores;
  } else {
    map_.examples += scores.examples;
    map_.log_likelihood = merge(map_.log_likelihood, before, scores.log_likelihood, scores.examples);
    merge(map_.accuracy, before, scores.accuracy, scores.examples);
    merge(map_.brier, before, scores.brier, scores.examples);
    if (scores.rmse) {
      const double squares = merge(*map_.rmse * *map_.rmse, before, *scores.rmse * *scores.rmse, scores.examples);
      map_.rmse = std::sqrt(squares);
    }
  }
  map_.nll = -map_.log_likelihood;
  if (!scores.ece) return;
  merge(reliability_, tabulate_reliability(class_probabilities(outputs), part.targets()));
  map_.ece = expected_calibration_error(reliability_);
}

void StreamedScores::keep_sample(const Dataset& part) {
  constexpr int64_t most_bytes = int64_t{1} << 30;
  const int64_t bytes = std::max<int64_t>(1, part.inputs()[0].numel() * part.inputs().element_size());
  const int64_t most = std::min(options_.linearised_examples, std::max<int64_t>(1, most_bytes / bytes));
  if (most == 0) return;
  const int64_t first = (stride_ - map_.examples % stride_) % stride_;
  if (first < part.size()) {
    const at::Tensor inputs = part.inputs().slice(0, first, part.size(), stride_);
    const at::Tensor targets = part.targets().slice(0, first, part.size(), stride_);
    inputs_ = inputs_.defined() ? at::cat({inputs_, inputs}) : inputs.clone();
    targets_ = targets_.defined() ? at::cat({targets_, targets}) : targets.clone();
  }
  while (inputs_.size(0) > most) {
    stride_ *= 2;
    inputs_ = inputs_.slice(0, 0, inputs_.size(0), 2).clone();
    targets_ = targets_.slice(0, 0, targets_.size(0), 2).clone();
  }
}

PredictiveScores StreamedScores::finish() const {
  if (map_.examples == 0) throw Error(ErrorKind::data, "There are no examples to score; expected at least one.");
  if (!inputs_.defined()) return map_;
  ScoreOptions options = options_;
  options.linearised_examples = inputs_.size(0);
  PredictiveScores scores = score(trained_, Dataset(inputs_, targets_), options);
  scores.linearised_rows = scores.linearised_probabilities = at::Tensor();
  scores.examples = map_.examples;
  scores.log_likelihood = map_.log_likelihood;
  scores.nll = map_.nll;
  scores.rmse = map_.rmse;
  scores.accuracy = map_.accuracy;
  scores.ece = map_.ece;
  scores.brier = map_.brier;
  return scores;
}

}  // namespace ockham
