// How long trainings will still take, from the epochs and curvature passes that were measured. Knows no libtorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ockham::app {

/// When epochs have a curvature pass: after `burn_in`, every `frequency`, and the last one.
struct EpochSchedule {
  int64_t epochs = 1, burn_in = 0, frequency = 1;

  bool has_pass(int64_t epoch) const;
  /// Passes of the epochs after `done`.
  int64_t passes_after(int64_t done) const;
};

/// What an epoch without a pass, and a pass, of a candidate will cost; in seconds, or only in proportion. 0: not known.
struct EpochCost {
  double epoch = 0, pass = 0;
};

/// Times are seconds from any moment on. The first epoch of a training is slower than the others and counts only until
/// there is a second; candidates that were not trained yet follow the measured ones in proportion to what was expected.
class TimeLeft {
 public:
  struct Options {
    EpochSchedule schedule;
    size_t restarts = 1, workers = 1;
    bool passes_were_measured = false;  // the expected cost of a pass is no guess
  };
  TimeLeft(Options options, std::vector<EpochCost> expected);

  /// So many epochs of a training were done in an earlier session.
  void resume(size_t candidate, size_t restart, int64_t epoch);
  /// A training begins, or goes on.
  void begin(size_t candidate, size_t restart, double now);
  /// Within an epoch: this share of its examples is done.
  void after_batch(size_t candidate, size_t restart, double share, double now);
  void after_epoch(size_t candidate, size_t restart, int64_t epoch, double now);
  void end(size_t candidate, size_t restart);

  /// Absent as long as too little was measured.
  std::optional<double> seconds(double now) const;

 private:
  struct Mean {
    double sum = 0;
    int64_t count = 0;
    void add(double value) { sum += value, ++count; }
    double value() const { return sum / static_cast<double>(count); }
  };
  struct Measured {
    Mean plain, with_pass;             // epochs, the first of each training left out
    std::optional<double> first;       // an epoch without a pass that was the first
    std::optional<double> by_batches;  // a whole epoch by the part that was done
  };
  struct Training {
    int64_t epoch = 0;     // done
    int64_t measured = 0;  // in this session
    bool running = false, ended = false;
    double epoch_began = 0;
    double first_share = 0, first_batch = -1;  // of this epoch
  };

  /// `may_be_first`: by the first epoch, if there is no other.
  std::optional<EpochCost> measured_cost(size_t candidate, bool may_be_first) const;
  Training& training(size_t candidate, size_t restart) { return trainings_[candidate * options_.restarts + restart]; }

  Options options_;
  std::vector<EpochCost> expected_;
  std::vector<Measured> measured_;   // by candidate
  std::vector<Training> trainings_;  // by candidate and restart
  double measured_seconds_ = 0;
};

}  // namespace ockham::app
