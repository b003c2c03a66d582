// The cells of a UCI experiment by set, method and split, and comparisons between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/table_text.h"

namespace ockham::paper {

/// "energy/full-ggn/split-3"; an underscore of the set becomes a hyphen.
std::string uci_cell_name(const std::string& set, const std::string& method, int64_t split);

class UciResults {
 public:
  explicit UciResults(const Results& results) : results_(results) {}

  /// The number `key` of every split that has one, by split; NaN where there is none.
  std::vector<double> values(const std::string& set, const std::string& method, const std::string& key) const;
  Summary summary(const std::string& set, const std::string& method, const std::string& key) const;
  int64_t splits(const std::string& set, const std::string& method) const;  // finished ones
  /// First minus second on the splits that have both.
  Summary difference(const std::string& set, const std::string& first, const std::string& second,
                     const std::string& key_first, const std::string& key_second) const;
  /// The trace `key` against the epochs, the mean over the splits; empty when there is none.
  struct Trace {
    std::vector<double> epochs, mean;
  };
  Trace trace(const std::string& set, const std::string& method, const std::string& key) const;

 private:
  const Results& results_;
};

/// A plot for each set that has it: the trace `key` of the cells, a line each, against the epochs.
struct TraceLine {
  std::string cell, name;
};
Figure trace_figure(const UciResults& results, const std::vector<std::string>& sets,
                    const std::vector<TraceLine>& lines, const std::string& key, const std::string& label,
                    const std::string& title);

/// How many of some cases hold.
struct Tally {
  int64_t holds = 0, cases = 0;
  std::vector<std::string> exceptions;

  void add(std::optional<bool> holds_here, const std::string& name);
  /// yes with at least `share` of the cases, open without cases, else no.
  Verdict verdict(double share) const;
  /// "14 of 15; not in yacht/kron"
  std::string text() const;
};

/// Paired differences on several sets: on how many they are at most two standard errors above zero. A set with one
/// split has no error: its number is shown, and it is no case.
struct Differences {
  Tally tally;
  std::string numbers;

  void add(const std::string& set, const Summary& difference);
  /// "6 of 7 (86 %); not in digits. Differences: boston -0.159 ± 0.115, …"
  std::string text(const std::string& name = "Differences") const;
};

}  // namespace ockham::paper
