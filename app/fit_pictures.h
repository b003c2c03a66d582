// What the report shows of the selected model's predictions: residuals, calibration, reliability, bands and maps.
#pragma once

#include "app/fit_data.h"
#include "ockham/predict/trained_model.h"
#include "ockham/report/run_report.h"

namespace ockham::app {

/// Fills the parts that apply: for one numeric input the predictive band, for two the map; of images, at most so many
/// for the linearised predictive, those of which the network is surest and least sure.
void add_pictures(const TrainedModel& trained, const FitData& data, int64_t most_images, RunReport& report);

}  // namespace ockham::app
