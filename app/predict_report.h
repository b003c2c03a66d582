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

/// Some of the examples.
struct PredictedRows {
  TablePredictions predictions;
  std::vector<int64_t> places;     // of images
  std::vector<std::string> files;  // of images that have their own
};

struct PredictReport {
  PredictedRows rows;    // of a table: its last part
  int64_t examples = 0;  // of all parts
  std::optional<PredictiveScores> scores;
  std::optional<OodReport> ood;
  std::vector<std::string> messages;
  double seconds = 0;
};

/// Throws Error(numerical) naming the example when a prediction is not a finite number; `before` examples came before.
void expect_finite(const TablePredictions& predictions, int64_t before = 0);

/// A row per example, below a header. One target: mean, sd, sd_epistemic, sd_noise, lower95, upper95; several: the same
/// for each, after its name and an underscore. Classes: class, p_<class> for each. Images: before them `image`, the
/// place in the file from 0. Numbers have the digits that a float32 network gives (at most nine, more only where a
/// target is far larger than its spread); those of a float64 network all of theirs.
std::string csv_header(const TrainedModel& trained);
std::string csv_rows(const TrainedModel& trained, const PredictedRows& rows);

/// One JSON object in three kinds of parts, every number to its last digit; the predictions are objects with the names
/// of the CSV's columns. Between rows that come one after the other stands a comma.
std::string json_beginning(const TrainedModel& trained, const PredictFlags& flags, PredictMethod method);
std::string json_rows(const TrainedModel& trained, const PredictedRows& rows);
std::string json_ending(const PredictReport& report);

}  // namespace ockham::app
