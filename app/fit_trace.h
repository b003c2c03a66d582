// The course of the trainings in files: trace.csv at the end, metrics.jsonl while they run.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/fit_plan.h"
#include "ockham/store/run_directory.h"

namespace ockham::app {

/// A row per curvature pass: candidate, restart, epoch, loss, log_marginal_likelihood, noise, temperature and the
/// precision of every group (when there are not too many), in the target's own units.
std::string trace_csv(const FitPlan& plan, const FitData& data, const std::vector<CandidateTraining>& trainings);

/// metrics.jsonl: one JSON object per curvature pass, written with the checkpoints. It begins anew with every session:
/// the checkpoints hold the passes of the earlier ones.
class MetricsLog {
 public:
  MetricsLog(const FitPlan& plan, const FitData& data, const RunDirectory& run);
  /// Writes those of the passes of a training that were not written before.
  void add(size_t candidate, size_t restart, const std::vector<OnlinePass>& passes);

 private:
  const FitPlan& plan_;
  const FitData& data_;
  const RunDirectory& run_;
  std::map<std::pair<size_t, size_t>, size_t> written_;
};

}  // namespace ockham::app
