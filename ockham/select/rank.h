// Ranking of trained candidates by their evidence.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ockham {

/// What one candidate reached, over its restarts.
struct CandidateScore {
  std::string name;  // "mlp:50-50"
  /// Structure, curvature and kind of likelihood in words: evidences compare only where it is equal.
  std::string comparability;
  std::vector<double> log_evidences;  // of the restarts that finished
  std::string failure;                // why restarts have none, when some or all of them failed
};

struct RankedCandidate {
  size_t candidate = 0;     // index into the scores
  size_t best_restart = 0;  // into its log_evidences
  double mean = 0;          // over the restarts: what ranks
  double best = 0;          // the restart that is kept
  double spread = 0;        // standard deviation over the restarts; 0 for a single one, where it is not known
  double probability = 0;   // exp(mean) normalised over the candidates: equal prior probabilities of the models
};

struct Ranking {
  std::vector<RankedCandidate> order;  // best first; candidates that failed are not in it
  /// Sentences: failures; that the first two are not decided by more than the spread of their restarts; that this
  /// spread is not known (a single restart) while they are less than `doubtful_lead` apart.
  std::vector<std::string> warnings;
};

/// Nats. Restarts of one network on small tables were seen to differ by as much, when one finds a worse mode.
inline constexpr double doubtful_lead = 20;

/// Throws Error(usage) when the candidates are not comparable (at one mode full ≥ block ≥ diagonal always, and a mass
/// is no density), and Error(numerical) when every candidate failed.
Ranking rank_by_evidence(const std::vector<CandidateScore>& scores);

/// The candidates that compare with one another, ranked among themselves.
struct RankingGroup {
  std::string comparability;
  Ranking ranking;  // its indices are into all scores; empty, with warnings, when every candidate of the group failed
};

/// For a view side by side of combinations that do not compare: one ranking per group, groups in the order in which
/// they come first. No order between the groups is meant. Throws Error(usage) without candidates.
std::vector<RankingGroup> rank_within_groups(const std::vector<CandidateScore>& scores);

}  // namespace ockham
