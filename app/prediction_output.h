// Where `ockham predict` writes: a CSV file, standard output, or both, as the predictions come.
#pragma once

#include <memory>
#include <string_view>

#include "app/predict_report.h"
#include "ockham/base/atomic_file.h"

namespace ockham::app {

/// What reaches standard output is there at once, since somebody may be reading along; the file is there after
/// `finish`.
class PredictionOutput {
 public:
  /// Flags and model must live as long.
  PredictionOutput(const PredictFlags& flags, const TrainedModel& trained);

  void add(const PredictedRows& rows);
  /// After at least one `add`.
  void finish(const PredictReport& report);

 private:
  const PredictFlags& flags_;
  const TrainedModel& trained_;
  std::unique_ptr<AtomicFile> file_;
  bool begun_ = false;
};

}  // namespace ockham::app
