// What the report shows of the selected model's predictions: residuals, calibration, reliability, bands and maps.
#pragma once

#include "app/fit_results.h"
#include "ockham/report/run_report.h"

namespace ockham::app {

/// Fills the parts that apply: for one numeric input the predictive band, for two the map; for classes those of the
/// probabilities behind the result's scores; of images those of which the network is surest and least sure.
void add_pictures(const TrainedModel& trained, const FitData& data, const CandidateResult& result, RunReport& report);

}  // namespace ockham::app
