// The trainings of a fit, in a run directory: checkpoints, progress, interruption, time limit.
#pragma once

#include <vector>

#include "app/fit_plan.h"
#include "app/interrupt.h"
#include "app/progress_line.h"
#include "ockham/store/run_directory.h"

namespace ockham::app {

enum class TrainingsEnd { complete, time_limit, interrupted };

struct FitTrainings {
  std::vector<CandidateTraining> all;
  TrainingsEnd end = TrainingsEnd::complete;
};

/// Goes on from the checkpoints that the directory has. Leaves a checkpoint of every training there. Times count from
/// now, so that what an earlier session used is not held against the limit.
FitTrainings train_in_directory(const FitPlan& plan, const FitData& data, const RunDirectory& run,
                                const InterruptWatch& interrupt, ProgressLine& line);

}  // namespace ockham::app
