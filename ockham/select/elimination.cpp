#include "ockham/select/elimination.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double best_until(const EvidenceTrace& trace, int64_t epoch) {
  double best = -kInfinity;
  for (const EvidenceTrace::Point& point : trace.points) {
    if (point.epoch <= epoch) best = std::max(best, point.log_evidence);
  }
  return best;
}

/// Sums over the restarts of a candidate.
struct Restarts {
  double now = 0, reachable = 0;
  int64_t count = 0;
};

}  // namespace

std::vector<int64_t> rung_epochs(int64_t epochs, const EliminationOptions& options) {
  std::vector<int64_t> rungs;
  for (double share : options.rungs) {
    if (!(share > 0 && share < 1)) {
      throw Error(
          ErrorKind::usage,
          fmt::format("a rung of the elimination is a share of the epochs between 0 and 1, but {} came", share));
    }
    const auto epoch = static_cast<int64_t>(std::llround(share * static_cast<double>(epochs)));
    if (epoch >= 1 && epoch < epochs) rungs.push_back(epoch);
  }
  std::sort(rungs.begin(), rungs.end());
  rungs.erase(std::unique(rungs.begin(), rungs.end()), rungs.end());
  return rungs;
}

Elimination eliminate_hopeless(const Rung& rung, const std::vector<EvidenceTrace>& traces,
                               const EliminationOptions& options) {
  const int64_t middle = rung.epoch / 2;
  const double windows_left = static_cast<double>(rung.epochs - rung.epoch) / static_cast<double>(rung.epoch - middle);
  std::map<size_t, Restarts> candidates;
  for (const EvidenceTrace& trace : traces) {
    if (!trace.running) continue;
    const double now = best_until(trace, rung.epoch), before = best_until(trace, middle);
    Restarts& restarts = candidates[trace.candidate];
    restarts.now += now;
    restarts.reachable += std::isfinite(before) ? now + (now - before) * windows_left : kInfinity;
    ++restarts.count;
  }
  Elimination result;
  result.leader = -kInfinity;
  for (const auto& [candidate, restarts] : candidates) {
    result.leader = std::max(result.leader, restarts.now / static_cast<double>(restarts.count));
  }
  const double jump = options.nats_per_example * static_cast<double>(rung.examples);
  for (const EvidenceTrace& trace : traces) {
    const Restarts& restarts = candidates[trace.candidate];
    result.reachable.push_back(trace.running ? restarts.reachable / static_cast<double>(restarts.count) + jump
                                             : -kInfinity);
    result.survives.push_back(trace.running && result.reachable.back() >= result.leader);
  }
  return result;
}

std::vector<EvidenceTrace> evidence_traces(const std::vector<CandidateTraining>& trainings) {
  std::vector<EvidenceTrace> traces;
  for (const CandidateTraining& training : trainings) {
    EvidenceTrace trace;
    trace.candidate = training.candidate;
    // Not the failure of the result: before its first curvature pass a training has no best state, but did not fail.
    trace.running = training.eliminated_at == 0 && training.result.state.failure.empty();
    for (const OnlinePass& pass : training.result.state.passes)
      if (!pass.estimate) trace.points.push_back({pass.epoch, pass.log_evidence});
    traces.push_back(std::move(trace));
  }
  return traces;
}

void use_elimination(CandidatesOptions& candidates, int64_t examples, const EliminationOptions& options) {
  candidates.rungs = rung_epochs(candidates.online.epochs, options);
  const int64_t epochs = candidates.online.epochs;
  candidates.survivors = [=](int64_t epoch, const std::vector<CandidateTraining>& trainings) {
    return eliminate_hopeless({epoch, epochs, examples}, evidence_traces(trainings), options).survives;
  };
}

}  // namespace ockham
