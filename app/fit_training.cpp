#include "app/fit_training.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "app/fit_checkpoints.h"
#include "app/fit_progress.h"
#include "app/fit_trace.h"
#include "app/ranks.h"

namespace ockham::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr double kHeartbeat = 20;  // seconds without one after which a rank's training is taken over
constexpr double kLastWords = 10;  // seconds for the checkpoints of other ranks at the end of the time

class Session {
 public:
  Session(const FitPlan& plan, const FitData& data, const TrainingPlace& place, const InterruptWatch& interrupt,
          ProgressLine& line)
      : plan_(plan), data_(data), place_(place), interrupt_(interrupt), line_(line) {}

  FitTrainings train(const CandidatesOptions& options) {
    std::optional<MetricsLog> metrics;
    if (place_.run != nullptr) metrics.emplace(plan_, data_, *place_.run);
    FitCheckpoints checkpoints(place_.path, place_.fingerprint, plan_.flags.checkpoint_interval,
                               metrics ? &*metrics : nullptr);
    FitProgress progress(plan_, data_, line_);
    end_ = TrainingsEnd::complete;
    // A network that all train together has one checkpoint, that of rank 0.
    const bool writes = options.online.laplace.communicator == nullptr || is_first(place_.ranks);

    CandidatesWatcher watcher;
    watcher.resume = [&](size_t candidate, size_t restart) {
      const auto state = checkpoints.read(candidate, restart);
      if (state) progress.resumed(candidate, restart, state->epoch);
      return state;
    };
    watcher.begin = [&](size_t candidate, size_t restart) {
      progress.begin(candidate, restart);
      return go_on();
    };
    watcher.after_batch = [&](size_t candidate, size_t restart, const BatchProgress& now) {
      progress.after_batch(candidate, restart, now);
      return go_on();
    };
    watcher.after_epoch = [&](size_t candidate, size_t restart, const OnlineProgress& now) {
      progress.after_epoch(candidate, restart, now);
      if (writes && checkpoints.due(candidate, restart)) checkpoints.write(candidate, restart, now.state());
      return go_on();
    };
    watcher.hand_over = [&](const CandidateTraining& training) {
      checkpoints.write(training.candidate, training.restart, training.result.state);
    };
    watcher.ended = [&](const CandidateTraining& training) {
      if (writes && training.result.state.theta.defined()) watcher.hand_over(training);
      // With a queue all are told of at the end, by rank 0.
      if (end_ != TrainingsEnd::interrupted && options.queue == nullptr) progress.ended(training);
    };
    watcher.rescue = [&](size_t candidate, size_t restart, const OnlineState& state) {
      checkpoints.write_if_newer(candidate, restart, state);
    };
    watcher.go_on = [this] { return go_on(); };
    FitTrainings trainings;
    trainings.all = train_candidates(plan_.candidates, data_.training, options, watcher);
    trainings.end = end_;
    line_.clear();
    return trainings;
  }

 private:
  bool go_on() {
    if (interrupt_.interrupted()) end_ = TrainingsEnd::interrupted;
    const double limit = plan_.flags.common.time_limit;
    if (limit > 0 && seconds_since(start_) > limit && end_ == TrainingsEnd::complete) end_ = TrainingsEnd::time_limit;
    return end_ == TrainingsEnd::complete;
  }

  const FitPlan& plan_;
  const FitData& data_;
  const TrainingPlace& place_;
  const InterruptWatch& interrupt_;
  ProgressLine& line_;
  Clock::time_point start_ = Clock::now();
  TrainingsEnd end_ = TrainingsEnd::complete;
};

/// Why all ended, when some know of a reason.
TrainingsEnd agree_on_end(Communicator& ranks, TrainingsEnd end) {
  if (is_true_anywhere(ranks, end == TrainingsEnd::interrupted)) return TrainingsEnd::interrupted;
  return is_true_anywhere(ranks, end == TrainingsEnd::time_limit) ? TrainingsEnd::time_limit : TrainingsEnd::complete;
}

/// Ranks that leave count themselves, so that rank 0 does not look at their checkpoints before they are there.
void wait_for_the_others(Communicator& ranks) {
  const auto start = Clock::now();
  while (ranks.add("left the queue", 0) < ranks.size() && seconds_since(start) < kLastWords)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

bool shares_candidates(const FitPlan& plan, const Communicator& ranks) {
  if (ranks.size() == 1) return false;
  if (plan.flags.ranks.parallel != ParallelChoice::automatic)
    return plan.flags.ranks.parallel == ParallelChoice::candidates;
  return static_cast<int64_t>(plan.candidates.size() * plan.options.restarts) >= ranks.size();
}

FitTrainings train_in_directory(const FitPlan& plan, const FitData& data, const TrainingPlace& place,
                                const InterruptWatch& interrupt, ProgressLine& line) {
  Session session(plan, data, place, interrupt, line);
  Communicator& ranks = place.ranks;
  if (ranks.size() == 1) return session.train(plan.options);
  CandidatesOptions options = plan.options;
  if (shares_candidates(plan, ranks)) {
    options.queue = &ranks;
    options.lost_after = std::min(kHeartbeat, plan.flags.ranks.timeout);
    FitTrainings mine = session.train(options);
    ranks.add("left the queue", 1);
    if (!is_first(ranks) || mine.end == TrainingsEnd::interrupted) return mine;
    if (mine.end == TrainingsEnd::time_limit) wait_for_the_others(ranks);
    // Everything is in the files now: one process finds it there.
    options.queue = nullptr;
    options.workers = 1;
    return session.train(options);
  }
  options.online.laplace.communicator = &ranks;
  options.workers = 1;
  FitTrainings trainings = session.train(options);
  trainings.end = agree_on_end(ranks, trainings.end);
  return trainings;
}

}  // namespace ockham::app
