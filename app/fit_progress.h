// What a person sees while candidates train: one line that is rewritten on a terminal, sparse lines elsewhere.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "app/fit_plan.h"

namespace ockham::app {

class FitProgress {
 public:
  FitProgress(const FitPlan& plan, const FitData& data);

  /// A training that goes on from an earlier session.
  void resumed(size_t candidate, size_t restart, int64_t epoch);
  void after_batch(size_t candidate, size_t restart, const BatchProgress& progress);
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
    BatchProgress within;                                     // of the epoch that runs, when it is a long one
    double examples_second = 0;                               // of training
    int64_t first_done = 0;                                   // by the first batch of the epoch ...
    Clock::time_point first_batch, epoch_end = Clock::now();  // ... at this time
  };

  void show_now_and_then(size_t candidate, size_t restart);
  void show(size_t candidate, size_t restart);
  std::string describe(size_t candidate, size_t restart, const Running& state) const;
  std::string name_of(size_t candidate, size_t restart) const;
  std::string time_left() const;
  /// Of one epoch of a candidate, in any unit.
  double weight(size_t candidate) const { return plan_.epoch_seconds[candidate]; }
  double all_work() const;

  const FitPlan& plan_;
  const FitData& data_;
  bool quiet_, terminal_;
  Clock::time_point start_ = Clock::now(), shown_;
  std::map<std::pair<size_t, size_t>, Running> running_;
  double work_done_ = 0, work_skipped_ = 0;  // epochs, by weight
  int64_t epochs_done_ = 0, ended_ = 0;
  bool line_open_ = false;
};

}  // namespace ockham::app
