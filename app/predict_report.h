// What `ockham predict` says: a CSV table, or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/predict_flags.h"
#include "ockham/predict/scores.h"
#include "ockham/predict/table_predictions.h"

namespace ockham::app {

/// How well uncertainty tells other images from the data: the area under the ROC curve of the predictive entropy.
struct OodReport {
  std::string name;
  int64_t examples = 0;
  double auroc = 0;      // of the method's predictive
  double auroc_map = 0;  // of the network alone
};

struct PredictReport {
  TablePredictions predictions;
  std::optional<PredictiveScores> scores;
  std::optional<OodReport> ood;
  std::vector<int64_t> places;     // of images
  std::vector<std::string> files;  // of images that have their own
  std::vector<std::string> messages;
  double seconds = 0;
};

/// Throws Error(numerical) naming the row when a prediction is not a finite number.
void expect_finite(const TablePredictions& predictions);

/// A header and a row per example. One target: mean, sd, sd_epistemic, sd_noise, lower95, upper95; several: the same
/// for each, after its name and an underscore. Classes: class, p_<class> for each. Images: before them `image`, the
/// place in the file from 0. Numbers have the digits that a float32 network gives (at most nine, more only where a
/// target is far larger than its spread); those of a float64 network all of theirs.
std::string predictions_csv(const TrainedModel& trained, const PredictReport& report);

/// One JSON object, every number to its last digit; the predictions are objects with the names of the CSV's columns.
std::string predictions_json(const TrainedModel& trained, const PredictFlags& flags, const PredictReport& report);

}  // namespace ockham::app
