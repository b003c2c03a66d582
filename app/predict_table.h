// `ockham predict` on the rows of a table, part by part: the memory does not grow with them.
#pragma once

#include <functional>

#include "app/messages.h"
#include "app/predict_report.h"
#include "app/prediction_output.h"
#include "app/progress_line.h"

namespace ockham::app {

/// What both kinds of data need.
struct PredictJob {
  const PredictFlags& flags;
  const TrainedModel& trained;
  PredictOptions options;
  Messages& messages;  // held back until the data have been looked at
  ProgressLine& line;
  std::function<void(int64_t examples_done)> check_time;  // throws when the time is over
};

/// Reads, predicts and writes; the report lacks the time that it took. An error in a later part leaves what standard
/// output has received already; a file is written whole or not at all.
PredictReport predict_table_rows(const PredictJob& job, PredictionOutput& output);

}  // namespace ockham::app
