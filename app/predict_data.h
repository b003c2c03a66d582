// The data of `ockham predict`: a table, or arrays as a table, encoded as the model was trained.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/messages.h"
#include "app/predict_flags.h"
#include "ockham/data/dataset.h"
#include "ockham/data/table_encoding.h"

namespace ockham::app {

struct PredictData {
  std::string name;               // of the file, for messages
  at::Tensor inputs;              // [N, D] float64, encoded
  std::optional<Dataset> scored;  // the examples whose targets are known; absent when there are none
};

/// Throws Error(data) naming file, line and column. Rows without a target are predicted and left out of the metrics.
PredictData read_predict_data(const PredictFlags& flags, const TableEncoding& encoding, Messages& messages);

}  // namespace ockham::app
