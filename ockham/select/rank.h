// Ranking of trained candidates by their evidence.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ockham {

/// What one candidate reached, over its restarts.
struct CandidateScore {
  std::string name;  // "mlp:50-50"
  std::string
      comparability;  // structure, curvature and kind of likelihood in words: evidences compare only where it is equal
  std::vector<double> log_evidences;  // of the restarts that finished
  std::string failure;                // why there are none, when there are none
};

struct RankedCandidate {
  size_t candidate = 0;     // index into the scores
  size_t best_restart = 0;  // into its log_evidences
  double mean = 0;          // over the restarts: what ranks
  double best = 0;          // the restart that is kept
  double spread = 0;        // standard deviation over the restarts; 0 for a single one
  double probability = 0;   // exp(mean) normalised over the candidates: equal prior probabilities of the models
};

struct Ranking {
  std::vector<RankedCandidate> order;  // best first; candidates that failed are not in it
  std::vector<std::string> warnings;   // e.g. that the first two are not decided by more than the spread
};

/// Throws Error(usage) when the candidates are not comparable (at one mode full ≥ block ≥ diagonal always, and a mass
/// is no density), and Error(numerical) when every candidate failed.
Ranking rank_by_evidence(const std::vector<CandidateScore>& scores);

}  // namespace ockham
