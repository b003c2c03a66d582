// What a person sees while candidates train: one line that is rewritten on a terminal, sparse lines elsewhere.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "app/fit_flags.h"
#include "ockham/data/table_encoding.h"
#include "ockham/select/train_candidates.h"

namespace ockham::app {

class FitProgress {
 public:
  FitProgress(const FitFlags& resolved, const TableEncoding& encoding, int64_t examples);

  /// A training that goes on from an earlier session.
  void resumed(size_t candidate, size_t restart, int64_t epoch);
  void after_epoch(size_t candidate, size_t restart, const OnlineProgress& progress);
  void ended(const CandidateTraining& training);
  /// Takes the rewritten line away.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    int64_t epoch = 0;
    double evidence = 0, noise = 0;
    bool has_evidence = false;
  };
  void show(size_t candidate, size_t restart);
  std::string name_of(size_t candidate, size_t restart) const;
  std::string time_left() const;

  const FitFlags& flags_;
  const TableEncoding& encoding_;
  int64_t examples_;
  bool quiet_, terminal_;
  Clock::time_point start_ = Clock::now(), shown_;
  std::map<std::pair<size_t, size_t>, Running> running_;
  int64_t epochs_done_ = 0, epochs_skipped_ = 0, ended_ = 0;
  bool line_open_ = false;
};

}  // namespace ockham::app
