// The baseline: MAP training at one prior precision, chosen by a grid search on validation rows.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/uci_training.h"

namespace ockham::paper {

struct UciBaseline {
  std::vector<double> precisions;
  int64_t epochs = 2000;
  double learning_rate =
      1e-2;  // of Adam, to zero by a cosine: shorter than the method's training and as well converged
  uint64_t seed = 0;
  int64_t memory = 0;  // bytes
};

/// 13 precisions from 1e-3 to 1e3 and 2000 epochs; for `quick` 4 and 200.
UciBaseline regression_baseline(const Settings& settings);

Json settings_of(const UciBaseline& baseline, const UciTable& table, int64_t split);

/// A tenth of the training rows validates; precision and noise are those that fit them best, and the final training is
/// on all training rows. The numbers of `score_uci` (the linearised predictive with the full GGN at that precision is
/// the cross-validated Laplace), and precision, and noise.
Json search_uci(const CellContext& context, const EncodedSplit& data, const UciBaseline& baseline, int64_t split);

double baseline_cost(const UciBaseline& baseline, const UciTable& table);

}  // namespace ockham::paper
