#include "ockham/select/rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ockham/base/error.h"

namespace ockham {
namespace {

RankedCandidate summarise(size_t index, const std::vector<double>& values) {
  RankedCandidate ranked;
  ranked.candidate = index;
  ranked.best_restart = static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
  ranked.best = values[ranked.best_restart];
  const double count = static_cast<double>(values.size());
  ranked.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() > 1) {
    double squares = 0;
    for (double value : values) squares += (value - ranked.mean) * (value - ranked.mean);
    ranked.spread = std::sqrt(squares / (count - 1));
  }
  return ranked;
}

void check_comparable(const std::vector<CandidateScore>& scores) {
  for (const CandidateScore& score : scores) {
    if (score.comparability == scores.front().comparability) continue;
    throw Error(ErrorKind::usage,
                fmt::format("Candidates '{}' ({}) and '{}' ({}) cannot be ranked together: evidences compare only "
                            "within one structure, "
                            "curvature and kind of likelihood; train them with the same ones.",
                            scores.front().name, scores.front().comparability, score.name, score.comparability));
  }
}

void add_probabilities(std::vector<RankedCandidate>& order) {
  double sum = 0;
  for (RankedCandidate& ranked : order) {
    ranked.probability = std::exp(ranked.mean - order.front().mean);
    sum += ranked.probability;
  }
  for (RankedCandidate& ranked : order) ranked.probability /= sum;
}

}  // namespace

Ranking rank_by_evidence(const std::vector<CandidateScore>& scores) {
  if (scores.empty()) throw Error(ErrorKind::usage, "There are no candidates to rank; give at least one.");
  check_comparable(scores);
  Ranking ranking;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i].log_evidences.empty()) {
      ranking.order.push_back(summarise(i, scores[i].log_evidences));
    } else {
      ranking.warnings.push_back(fmt::format("'{}' has no evidence: {}", scores[i].name, scores[i].failure));
    }
  }
  if (ranking.order.empty()) {
    throw Error(ErrorKind::numerical,
                fmt::format("No candidate reached an evidence; the first failed because {}.", scores.front().failure));
  }
  std::stable_sort(ranking.order.begin(), ranking.order.end(),
                   [](const RankedCandidate& a, const RankedCandidate& b) { return a.mean > b.mean; });
  add_probabilities(ranking.order);
  if (ranking.order.size() > 1) {
    const RankedCandidate &first = ranking.order[0], &second = ranking.order[1];
    const double spread = std::hypot(first.spread, second.spread);
    if (first.mean - second.mean <= spread) {
      ranking.warnings.push_back(
          fmt::format("'{}' is ahead of '{}' by {:.2f} nats only, within the spread of the restarts ({:.2f}): the "
                      "ranking of these two is not decided",
                      scores[first.candidate].name, scores[second.candidate].name, first.mean - second.mean, spread));
    }
  }
  return ranking;
}

}  // namespace ockham
