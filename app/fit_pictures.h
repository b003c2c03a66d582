// What the report shows of the selected model's predictions: residuals, calibration, reliability, bands and maps.
#pragma once

#include "app/fit_results.h"
#include "ockham/report/run_report.h"

namespace ockham::app {

/// Fills the parts that apply, for the selected model: for one numeric input the predictive band, for two the map; for
/// classes those of the probabilities behind its scores; of images those of which the network is surest and least sure.
/// When the time was over there are fewer points, and probabilities are those of the network alone.
void add_pictures(const FitResults& results, const FitData& data, RunReport& report);

}  // namespace ockham::app
