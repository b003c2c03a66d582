// The trainings of a fit, in a run directory: checkpoints, progress, interruption, time limit, several processes.
#pragma once

#include <string>
#include <vector>

#include "app/fit_plan.h"
#include "app/interrupt.h"
#include "app/progress_line.h"
#include "ockham/distributed/communicator.h"
#include "ockham/store/run_directory.h"

namespace ockham::app {

enum class TrainingsEnd { complete, time_limit, interrupted };

struct FitTrainings {
  std::vector<CandidateTraining> all;  // of rank 0; the others may know only their own
  TrainingsEnd end = TrainingsEnd::complete;
};

/// Where a process keeps its trainings, and with whom it makes them.
struct TrainingPlace {
  const RunDirectory* run = nullptr;  // of rank 0, which alone may write other files than checkpoints
  std::string path;                   // of the run directory, on every rank
  std::string fingerprint;
  Communicator& ranks;
};

/// Whether the ranks share out the trainings, not the data of each.
bool shares_candidates(const FitPlan& plan, const Communicator& ranks);

/// Goes on from the checkpoints that the directory has. Leaves a checkpoint of every training there. Times count from
/// now, so that what an earlier session used is not held against the limit. Throws Error(peer_lost) when a rank is lost
/// that the others cannot do without, after they have left checkpoints.
FitTrainings train_in_directory(const FitPlan& plan, const FitData& data, const TrainingPlace& place,
                                const InterruptWatch& interrupt, ProgressLine& line);

}  // namespace ockham::app
