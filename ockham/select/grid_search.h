// The baseline that the evidence is compared with: a grid search over one prior precision by validation.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ockham/select/map_training.h"
#include "ockham/select/validation_split.h"

namespace ockham {

/// A network to try. `make_model(restart)` makes it anew, with weights of its own that depend on `restart` only: the
/// number of the fold in validation, 0 in the final training. The precision is written into every group of its prior.
struct GridCandidate {
  std::string name;  // "mlp:50-50"
  std::function<Model(uint64_t restart)> make_model;
};

enum class PredictiveNoise {
  training,    // the noise that fits the training examples
  validation,  // the noise that fits the validation examples (one number fitted there), averaged over the folds for the
               // final model: kinder to networks that overfit
};

struct GridSearchOptions {
  /// Half-decades from no regularisation to nearly nothing but the prior, for standardised inputs and targets.
  std::vector<double> precisions = logarithmic_grid(1e-3, 1e3, 13);
  ValidationOptions validation;
  MapTrainingOptions training;  // its keys `candidate` and `restart` are set by the search
  PredictiveNoise noise = PredictiveNoise::training;

  /// `count` values from `first` to `last`, equally spaced in their logarithm.
  static std::vector<double> logarithmic_grid(double first, double last, int64_t count);
};

/// One network at one precision.
struct GridSetting {
  size_t candidate = 0;
  double precision = 0;
  /// Validation NLL per example of the MAP predictive, over all validation examples; infinite when it failed.
  double nll = std::numeric_limits<double>::infinity();
  std::vector<double> fold_nlls;  // one for a hold-out
  at::Tensor log_noise;           // log σ by which they were scored, the mean over the folds; see Hyperparameters
  double seconds = 0;
  std::string failure;  // of a fold, e.g. divergence
};

struct GridSearchResult {
  std::vector<GridSetting> settings;  // candidate by candidate, precisions as given; an interrupted search has fewer
  std::optional<size_t> best;         // the lowest NLL; none when every setting failed
  std::optional<Model> model;         // trained again on all data at the best setting
  std::vector<std::string> warnings;  // e.g. that the best precision is at the end of the grid
  std::string failure;                // why there is no model
  bool interrupted = false;
  int64_t trainings = 0;  // all of them, the last one included
  double seconds = 0;
};

struct GridSearchProgress {
  int64_t training = 0;   // trainings done
  int64_t trainings = 0;  // in all
  size_t candidate = 0;
  double precision = 0;
  int64_t epoch = 0;  // of the running training
};
using GridSearchWatcher = std::function<bool(const GridSearchProgress&)>;  // false ends the search

/// Scores candidates × precisions by validation, then trains the best on all data. A setting that diverges is recorded
/// and left out. Throws Error(usage) without candidates or with a precision that is not positive.
GridSearchResult grid_search(const std::vector<GridCandidate>& candidates, const Dataset& data,
                             const GridSearchOptions& options, const GridSearchWatcher& watcher = {});

}  // namespace ockham
