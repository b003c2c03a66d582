// The data of `ockham predict`: a table, arrays as a table, or images, encoded as the model was trained.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/messages.h"
#include "app/predict_flags.h"
#include "ockham/data/dataset.h"
#include "ockham/predict/trained_model.h"

namespace ockham::app {

struct PredictData {
  std::string name;                // of the file, for messages
  at::Tensor inputs;               // [N, D] float64, encoded; images: as they are, [N, C, H, W]
  std::optional<Dataset> scored;   // the examples whose targets are known; absent when there are none
  std::vector<int64_t> places;     // images: which of the file each is, from 0
  std::vector<std::string> files;  // images: the file of each, where it has its own
  std::function<void(int64_t examples_done)> progress = {};  // how far their prediction is
};

/// Throws Error(data) naming file, line and column. Rows without a target are predicted and left out of the metrics.
PredictData read_predict_data(const PredictFlags& flags, const TrainedModel& trained, Messages& messages);

}  // namespace ockham::app
