// Giving up hopeless candidates before they are fully trained, by their evidence so far. Off unless asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ockham/select/train_candidates.h"

namespace ockham {

struct EliminationOptions {
  /// Shares of the epochs at which candidates are compared, each at the same epoch.
  std::vector<double> rungs = {0.25, 0.5, 0.75};
  /// Nats per example that a candidate is granted on top of its present rate of rising. Evidences also rise in jumps,
  /// when a network finds one more feature of the data: a jump that lowers the noise by a fifth is worth N log 1.25.
  double nats_per_example = 0.25;
};

/// One training's evidence at its curvature passes, epochs ascending.
struct EvidenceTrace {
  struct Point {
    int64_t epoch = 0;
    double log_evidence = 0;
  };
  size_t candidate = 0;
  std::vector<Point> points;
  bool running = true;  // false: it failed, or was eliminated before
};

struct Rung {
  int64_t epoch = 0;     // where the candidates are compared
  int64_t epochs = 0;    // of a whole training
  int64_t examples = 0;  // N
};

struct Elimination {
  std::vector<bool> survives;  // per trace
  double leader = 0;           // the best candidate's evidence at the rung, the mean over its restarts
  /// What the candidate of each trace could reach at most by the rule below; infinite when it is too early to say.
  std::vector<double> reachable;
};

/// Epochs of the rungs, ascending, each within 1 .. epochs - 1. Throws Error(usage) for shares outside (0, 1).
std::vector<int64_t> rung_epochs(int64_t epochs, const EliminationOptions& options);

/// Who goes on after `rung` of the epochs. A pure function of the traces up to that epoch (later points are not looked
/// at), so it does not matter in which order the trainings ran. With v_t(e) the best evidence of training t up to epoch
/// e, a candidate could reach, as the mean over its restarts t,
///   v_t(rung) + [v_t(rung) - v_t(rung / 2)] · (epochs - rung) / (rung - rung / 2) + nats_per_example · N,
/// which bounds every trace that does not rise faster than in the last half of its epochs, but for a jump. It goes,
/// with all its restarts, when this is below what the leader has already. Without an evidence at rung / 2 nobody goes.
Elimination eliminate_hopeless(const Rung& rung, const std::vector<EvidenceTrace>& traces,
                               const EliminationOptions& options);

/// The traces of trainings, as `CandidatesOptions::survivors` receives them.
std::vector<EvidenceTrace> evidence_traces(const std::vector<CandidateTraining>& trainings);

/// Sets `rungs` and `survivors` of the options for a data set of that many examples.
void use_elimination(CandidatesOptions& candidates, int64_t examples, const EliminationOptions& options = {});

}  // namespace ockham
