// What a person sees while candidates train.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "app/fit_plan.h"
#include "app/progress_line.h"
#include "app/time_left.h"

namespace ockham::app {

class FitProgress {
 public:
  FitProgress(const FitPlan& plan, const FitData& data, ProgressLine& line);

  /// A training that goes on from an earlier session.
  void resumed(size_t candidate, size_t restart, int64_t epoch);
  void begin(size_t candidate, size_t restart);
  void after_batch(size_t candidate, size_t restart, const BatchProgress& progress);
  void after_epoch(size_t candidate, size_t restart, const OnlineProgress& progress);
  void ended(const CandidateTraining& training);

 private:
  using Clock = std::chrono::steady_clock;
  using Key = std::pair<size_t, size_t>;
  struct Running {
    int64_t epoch = 0;
    double evidence = 0, noise = 0;
    bool has_evidence = false;
    BatchProgress within;                                     // of the epoch that runs, when it is a long one
    double examples_second = 0;                               // of training
    int64_t first_done = 0;                                   // by the first batch of the epoch ...
    Clock::time_point first_batch, epoch_end = Clock::now();  // ... at this time
  };

  void show(size_t candidate, size_t restart);
  std::string describe(size_t candidate, size_t restart, const Running& state) const;
  std::string name_of(size_t candidate, size_t restart) const;
  std::string time_left() const;
  double now() const;
  double share(int64_t examples) const;

  const FitPlan& plan_;
  const FitData& data_;
  ProgressLine& line_;
  Clock::time_point start_ = Clock::now();
  std::map<Key, int64_t> resumed_;  // epochs done
  std::map<Key, Running> running_;
  TimeLeft time_left_;
  int64_t ended_ = 0;
};

}  // namespace ockham::app
