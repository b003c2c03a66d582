// Scores of a network while it is trained, epoch by epoch, that survive an interruption.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace ockham::paper {

/// Calls `score` after every epoch of a `train_kept` and keeps what it gives in `<context.directory>/curve.json`.
class EpochCurve {
 public:
  using Score = std::function<Json(int64_t epoch)>;

  EpochCurve(const CellContext& context, int64_t epochs, Score score);

  /// The context for the training: it sees the epochs by their fractions k / epochs, between which batches are told.
  CellContext watched();

  /// What `score` gave, by epoch from 1; null where an epoch has none.
  Json values() const;

 private:
  void add(int64_t epoch);

  CellContext context_;
  std::string path_;
  Score score_;
  std::vector<Json> values_;
};

}  // namespace ockham::paper
