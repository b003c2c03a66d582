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

void check_not_empty(const std::vector<CandidateScore>& scores) {
  if (scores.empty()) throw Error(ErrorKind::usage, "There are no candidates to rank; give at least one.");
  for (const CandidateScore& score : scores) {
    for (double value : score.log_evidences) {
      if (std::isfinite(value)) continue;
      throw Error(ErrorKind::numerical, fmt::format("Candidate '{}' has the log evidence {}, which cannot be ranked; "
                                                    "leave that restart out and give its failure instead.",
                                                    score.name, value));
    }
  }
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

/// Is the lead of the first over the second more than chance? The sentence that says no or that nobody knows.
std::string doubt(const std::vector<CandidateScore>& scores, const RankedCandidate& first,
                  const RankedCandidate& second) {
  const CandidateScore &one = scores[first.candidate], &other = scores[second.candidate];
  const double lead = first.mean - second.mean, spread = std::hypot(first.spread, second.spread);
  if (one.log_evidences.size() > 1 && other.log_evidences.size() > 1) {
    if (lead > spread) return {};
    return fmt::format(
        "'{}' is ahead of '{}' by {:.2f} nats only, within the spread of the restarts ({:.2f}): the ranking of these "
        "two is not decided",
        one.name, other.name, lead, spread);
  }
  if (lead > doubtful_lead) return {};
  const bool both = one.log_evidences.size() == 1 && other.log_evidences.size() == 1;
  const std::string& single = one.log_evidences.size() == 1 ? one.name : other.name;
  return fmt::format(
      "'{}' is ahead of '{}' by {:.2f} nats, but {} trained only once, so the spread over restarts is not known: more "
      "restarts would show whether this decides",
      one.name, other.name, lead, both ? "each was" : fmt::format("'{}' was", single));
}

/// The candidates `members` among themselves.
Ranking rank(const std::vector<CandidateScore>& scores, const std::vector<size_t>& members) {
  Ranking ranking;
  for (size_t index : members) {
    const CandidateScore& score = scores[index];
    if (score.log_evidences.empty()) {
      ranking.warnings.push_back(fmt::format("'{}' has no evidence: {}", score.name, score.failure));
      continue;
    }
    ranking.order.push_back(summarise(index, score.log_evidences));
    if (!score.failure.empty()) {
      ranking.warnings.push_back(
          fmt::format("'{}' is ranked without the restarts that failed: {}", score.name, score.failure));
    }
  }
  if (ranking.order.empty()) return ranking;
  std::stable_sort(ranking.order.begin(), ranking.order.end(),
                   [](const RankedCandidate& a, const RankedCandidate& b) { return a.mean > b.mean; });
  add_probabilities(ranking.order);
  if (ranking.order.size() > 1) {
    const std::string sentence = doubt(scores, ranking.order[0], ranking.order[1]);
    if (!sentence.empty()) ranking.warnings.push_back(sentence);
  }
  return ranking;
}

}  // namespace

Ranking rank_by_evidence(const std::vector<CandidateScore>& scores) {
  check_not_empty(scores);
  check_comparable(scores);
  std::vector<size_t> everyone(scores.size());
  std::iota(everyone.begin(), everyone.end(), 0);
  Ranking ranking = rank(scores, everyone);
  if (ranking.order.empty()) {
    throw Error(ErrorKind::numerical,
                fmt::format("No candidate reached an evidence; the first failed because {}.", scores.front().failure));
  }
  return ranking;
}

std::vector<RankingGroup> rank_within_groups(const std::vector<CandidateScore>& scores) {
  check_not_empty(scores);
  std::vector<RankingGroup> groups;
  std::vector<std::vector<size_t>> members;
  for (size_t index = 0; index < scores.size(); ++index) {
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const RankingGroup& group) {
      return group.comparability == scores[index].comparability;
    });
    const auto place = static_cast<size_t>(known - groups.begin());
    if (known == groups.end()) {
      groups.push_back({scores[index].comparability, {}});
      members.emplace_back();
    }
    members[place].push_back(index);
  }
  for (size_t place = 0; place < groups.size(); ++place) groups[place].ranking = rank(scores, members[place]);
  return groups;
}

}  // namespace ockham
