// The paper's training on UCI tables: one hidden layer of 50 ReLUs, the online algorithm with one of five estimates of
// the curvature, and the scores on the test rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/uci_data.h"
#include "ockham/train/train_online.h"

namespace ockham::paper {

/// An estimate of the curvature, as the paper's columns name them.
struct UciMethod {
  std::string name;   // in cells: "full-ggn"
  std::string title;  // in tables: "full GGN"
  Structure structure = Structure::full;
  CurvatureKind kind = CurvatureKind::ggn;
};

/// full GGN, full EF, kron (GGN), diag GGN, diag EF.
const std::vector<UciMethod>& uci_methods();

struct UciTraining {
  int64_t epochs = 10000;
  int64_t frequency = 1;        // F
  int64_t hyper_steps = 1;      // K
  double learning_rate = 1e-3;  // of Adam, for weights and hyperparameters
  uint64_t seed = 0;            // of the run
  int64_t memory = 0;           // bytes; no number depends on it
};

/// All that a training's numbers depend on, for `Cell::settings`.
Json settings_of(const UciTraining& training, const UciTable& table, const UciMethod& method, int64_t split);

/// The untrained model: mlp:50, δ = 1 for the weights and the biases of each layer, σ = 1.
/// Weights are drawn by (seed, split, restart), alike for every method.
struct UciWeights {
  uint64_t seed = 0;
  int64_t split = 0;
  uint64_t restart = 0;
  at::ScalarType type = at::kFloat;
};
Model make_uci_model(const EncodedSplit& data, const UciWeights& weights);

/// float32, but float64 for full structure: the exact curvature of naval is beyond float32.
at::ScalarType float_type(const UciMethod& method);

/// Options of the online algorithm. The state that counts is the one with the highest evidence in the last tenth of the
/// epochs: before it the weights are far from a mode, and the very last one can be a spike of Adam's.
OnlineOptions online_options(const UciTraining& training, const UciMethod& method, int64_t split);

/// Trains, and scores the MAP and the linearised predictive in the target's own units: nll, nll_bayes, and rmse or
/// accuracy, accuracy_bayes, ece, ece_bayes; evidence (per example), noise, precisions, best_epoch, gradient_norm,
/// train_nll, and the trace (epoch, evidence per example, noise).
Json train_uci(const CellContext& context, const EncodedSplit& data, const UciTraining& training,
               const UciMethod& method, int64_t split);

/// Class probabilities [N, C] of the MAP and of the linearised predictive, the mean over 1000 samples.
struct UciPredictions {
  at::Tensor map, bayes;
};
UciPredictions predict_uci(const Model& model, const EncodedSplit& data, const LaplaceOptions& laplace,
                           const at::Tensor& inputs);

/// The scores of a trained model on the test rows, with the posterior of `laplace`; see `train_uci`.
Json score_uci(const Model& model, const EncodedSplit& data, const LaplaceOptions& laplace);

/// A cell's relative cost, from multiplications.
double uci_cost(const UciTraining& training, const UciTable& table, const UciMethod& method, int64_t outputs);

}  // namespace ockham::paper
