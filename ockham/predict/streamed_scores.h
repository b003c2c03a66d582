// How good a trained model is on examples that come in parts, more than the memory holds.
#pragma once

#include <cstdint>
#include <vector>

#include "ockham/assess/classification.h"
#include "ockham/predict/scores.h"

namespace ockham {

/// `score` (scores.h) of all parts together. The scores of the MAP predictive are of all examples, those of the
/// linearised one of a sample that is kept: all of them up to the options' number (or a gigabyte), else evenly spaced
/// ones, more than half of that number.
class StreamedScores {
 public:
  /// The model must live as long.
  explicit StreamedScores(const TrainedModel& trained, const ScoreOptions& options = {});

  void add(const Dataset& part);
  int64_t examples() const { return map_.examples; }
  /// Of at least one example. `linearised_rows` and `linearised_probabilities` are undefined.
  PredictiveScores finish() const;

 private:
  void keep_sample(const Dataset& part);

  const TrainedModel& trained_;
  ScoreOptions options_;
  PredictiveScores map_;
  std::vector<ReliabilityBin> reliability_;
  int64_t stride_ = 1;           // the sample holds one of so many
  at::Tensor inputs_, targets_;  // of the sample
};

}  // namespace ockham
