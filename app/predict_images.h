// Images for `ockham predict`, and how well other images are told from them.
#pragma once

#include <optional>

#include "app/messages.h"
#include "app/predict_data.h"
#include "app/predict_report.h"

namespace ockham::app {

/// A directory or a .npy file, DATA or --inputs. Throws Error(data) when the images do not fit the model.
PredictData read_predict_images(const PredictFlags& flags, const TrainedModel& trained, Messages& messages);

/// Those of --ood; their labels are not looked at. Throws Error(usage) when the model is one of a table.
PredictData read_other_images(const PredictFlags& flags, const TrainedModel& trained, Messages& messages);

/// Throws Error(usage) or Error(data) for flags and data that only a model of images takes.
void expect_table_data(const PredictFlags& flags);

/// The scores where labels are known, from the predictions in the report, and the area under the ROC curve.
void assess_images(const TrainedModel& trained, const PredictData& data, const std::optional<PredictData>& others,
                   const PredictOptions& options, PredictReport& report);

std::string ood_words(const OodReport& report);

}  // namespace ockham::app
