// The baselines of uci-classification: MAP and Laplace with a precision chosen by validation, and mean-field inference.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/mean_field.h"
#include "experiments/uci_training.h"

namespace ockham::paper {

struct UciValidation {
  std::vector<double> precisions;  // ten, as in the paper, which does not say which
  int64_t epochs = 2000;
  double learning_rate = 1e-2;  // of Adam, to zero by a cosine
  uint64_t seed = 0;
  int64_t memory = 0;  // bytes
};

Json settings_of(const UciValidation& validation, const UciTable& table, int64_t split);

/// Trains at every precision on the training rows. nll, accuracy, ece are of the MAP at the precision with the lowest
/// validation NLL; the same with `_bayes` are of the Laplace predictive (full GGN, 1000 samples) at its own best one.
/// Also precision, precision_bayes, and validation (the NLLs of both along the grid).
Json validate_uci(const CellContext& context, const EncodedSplit& data, const UciValidation& validation, int64_t split);

Json settings_of(const MeanFieldOptions& options, const UciTable& table, int64_t split);

/// nll, accuracy and ece of the mean over 1000 samples; elbo (per example), last_change, precisions, trace.
Json infer_mean_field(const CellContext& context, const EncodedSplit& data, MeanFieldOptions options, int64_t split);

}  // namespace ockham::paper
