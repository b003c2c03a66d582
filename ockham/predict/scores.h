// How good a trained model is on examples with known targets, in the target's own units.
#pragma once

#include <cstdint>
#include <optional>

#include "ockham/data/dataset.h"
#include "ockham/predict/table_predictions.h"

namespace ockham {

struct ScoreOptions {
  /// Thrown by `progress`: the scores of the linearised predictive are left out, the others stay.
  struct LeaveOut {};
  /// Examples for the linearised predictive, evenly spaced when there are more: it costs a Jacobian each. The others
  /// use all. 0: none, and the scores `_bayes` are absent.
  int64_t linearised_examples = 20000;
  int64_t memory_budget = 0;                                // bytes; 0: default_memory_budget()
  std::function<void(int64_t examples_done)> progress;      // of the linearised ones; may throw to interrupt
  std::function<void(int64_t examples_done)> map_progress;  // of the others, which come first
};

/// All per example. Plain names are of the MAP predictive (the network and its noise), `_bayes` of the linearised one
/// (probit for classes). Log likelihoods are densities in the target's units; several targets count as independent and
/// are summed.
struct PredictiveScores {
  int64_t examples = 0;
  int64_t linearised_examples = 0;
  double log_likelihood = 0;                   // (1/N) Σ log p(y)
  double nll = 0;                              // its negative
  double nll_bayes = 0;                        // NaN: it was not computed
  std::optional<double> rmse;                  // regression: over examples and targets
  std::optional<double> coverage95;            // regression: share of targets between lower95 and upper95, linearised
  std::optional<double> accuracy, ece, brier;  // classification
  std::optional<double> accuracy_bayes, ece_bayes, brier_bayes;
  /// Classification by `score`: the examples [n] of the linearised predictive, and its probabilities [n, C]; undefined
  /// without it.
  at::Tensor linearised_rows, linearised_probabilities;
};

/// Of class probabilities [N, C] that are at hand, for classes [N]; `bayes` may be undefined, its scores are then
/// absent (nll_bayes is NaN).
PredictiveScores score_probabilities(const at::Tensor& map, const at::Tensor& bayes, const at::Tensor& classes);

/// Inputs and targets as `encode_inputs` and `encode_targets` give them (any floating type). Throws Error(data) when
/// they do not fit the model.
PredictiveScores score(const TrainedModel& trained, const Dataset& data, const ScoreOptions& options = {});

/// The MAP scores alone, of outputs as `predict_outputs` gives them.
PredictiveScores score_outputs(const Model& model, const TableEncoding& encoding, const Dataset& data,
                               const at::Tensor& outputs);
/// The same with the outputs made: they need no posterior.
PredictiveScores score_map(const Model& model, const TableEncoding& encoding, const Dataset& data,
                           const std::function<void(int64_t examples_done)>& progress = {});

}  // namespace ockham
