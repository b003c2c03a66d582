#include "ockham/base/nearest_word.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ockham {
namespace {

/// Optimal string alignment: insertions, deletions, changes and swaps of neighbours.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before, previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = previous;
    previous = current;
  }
  return previous[b.size()];
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
  std::string nearest, without_tail;
  size_t smallest = std::numeric_limits<size_t>::max();
  for (const std::string& candidate : known) {
    size_t distance = edit_distance(word, candidate);
    const size_t common = std::min(word.size(), candidate.size());
    if (common >= 4 && word.compare(0, common, candidate, 0, common) == 0) {
      if (word.size() < candidate.size()) {
        distance = 1;  // a word cut short is one slip
      } else if (candidate.size() > without_tail.size()) {
        without_tail = candidate;
      }
    }
    if (distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  // A word with a tail comes last: "--prior-precison" is a slip of "--prior-precision", not "--prior" and more.
  return smallest <= std::max<size_t>(1, std::min<size_t>(3, word.size() / 3)) ? nearest : without_tail;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? nearest : "; did you mean '" + nearest + "'?";
}

}  // namespace ockham
