#include "ockham/select/train_candidates.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/distributed/agreement.h"
#include "ockham/distributed/work_queue.h"

namespace ockham {
namespace {

/// The trainings, and the workers that take them one after the other.
class Trainings {
 public:
  Trainings(const std::vector<Candidate>& candidates, const Dataset& data, const CandidatesOptions& options,
            const CandidatesWatcher& watcher)
      : candidates_(candidates), data_(data), options_(options), watcher_(watcher) {
    for (size_t candidate = 0; candidate < candidates.size(); ++candidate)
      for (size_t restart = 0; restart < options.restarts; ++restart) {
        CandidateTraining training;
        training.candidate = candidate;
        training.restart = restart;
        all_.push_back(std::move(training));
      }
    states_.resize(all_.size());
    stopped_.resize(all_.size());
    for (size_t i = 0; i < all_.size(); ++i) look_up(i);
    if (options.queue != nullptr) heartbeat_.emplace(*options.queue);
  }

  /// Trains everything that is still in the race up to an epoch.
  void train_until(int64_t epoch) {
    std::vector<size_t> order;
    for (size_t i = 0; i < all_.size(); ++i)
      if (all_[i].eliminated_at == 0 && !stopped_[i]) order.push_back(i);
    const bool cheapest_first = options_.order == TrainingOrder::cheapest_first;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const double left = candidates_[all_[a].candidate].cost, right = candidates_[all_[b].candidate].cost;
      return cheapest_first ? left < right : left > right;
    });
    if (options_.queue != nullptr) return train_from_queue(order, epoch);
    size_t next = 0;
    const auto work = [&] {
      for (;;) {
        size_t mine;
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          if (next >= order.size() || error_) return;
          mine = order[next++];
        }
        train(mine, epoch);
      }
    };
    const auto work_alone = [&] {
      const SingleThread alone;
      work();
    };
    if (all_.size() == 1) {
      work();
    } else if (options_.workers <= 1) {
      options_.threads == TrainingThreads::one_each ? work_alone() : work();
    } else {
      std::vector<std::thread> workers;
      for (size_t i = 0; i < std::min(options_.workers, order.size()); ++i) workers.emplace_back(work_alone);
      for (std::thread& worker : workers) worker.join();
    }
    if (error_) std::rethrow_exception(error_);
  }

  void eliminate(int64_t rung) {
    if (was_stopped()) return;
    const std::vector<bool> stays = options_.survivors(rung, all_);
    for (size_t i = 0; i < all_.size(); ++i) {
      if (stays[i] || all_[i].eliminated_at > 0) continue;
      all_[i].eliminated_at = rung;
      if (watcher_.ended) watcher_.ended(all_[i]);
    }
  }

  std::vector<CandidateTraining> take() { return std::move(all_); }
  bool was_stopped() const { return std::find(stopped_.begin(), stopped_.end(), true) != stopped_.end() || gave_up_; }

 private:
  /// The state in which the caller has a training.
  void look_up(size_t index) {
    if (!watcher_.resume) return;
    states_[index] = watcher_.resume(all_[index].candidate, all_[index].restart);
    if (states_[index]) all_[index].result = {states_[index]->best, 0, *states_[index], {}, false};
  }

  /// Takes what no rank has, waits for the others, and sees what they did.
  void train_from_queue(const std::vector<size_t>& order, int64_t epoch) {
    std::optional<SingleThread> alone;
    if (all_.size() > 1 && (options_.workers > 1 || options_.threads == TrainingThreads::one_each)) alone.emplace();
    WorkQueue queue(*options_.queue, {"trainings until " + std::to_string(epoch), order.size(), options_.lost_after});
    while (const std::optional<size_t> item = queue.take(watcher_.go_on)) {
      const size_t index = order[*item];
      look_up(index);
      train(index, epoch);
      if (error_) std::rethrow_exception(error_);
      if (heartbeat_->lost()) throw Error(ErrorKind::peer_lost, "the rank that hands out the trainings is gone");
      if (stopped_[index]) return;
      if (epoch < options_.online.epochs && watcher_.hand_over) watcher_.hand_over(all_[index]);
      queue.finish(*item);
    }
    gave_up_ = !queue.all_finished();
    for (const size_t index : order) look_up(index);
  }

  void train(size_t index, int64_t until) {
    CandidateTraining& training = all_[index];
    const size_t candidate = training.candidate, restart = training.restart;
    const bool last = until >= options_.online.epochs;
    if (!last && states_[index] && states_[index]->epoch > until) return;  // an earlier session went further
    try {
      bool stopped = false;
      if (watcher_.begin) {
        const std::lock_guard<std::mutex> lock(mutex_);
        stopped = !watcher_.begin(candidate, restart);
      }
      Communicator* const together = options_.online.laplace.communicator;
      if (together != nullptr) stopped = is_true_anywhere(*together, stopped);
      if (!stopped) {
        OnlineOptions options = options_.online;
        options.candidate = candidate;
        options.restart = restart;
        options.resume = states_[index];
        options.until = last ? 0 : until;
        if (watcher_.rescue)
          options.rescue = [&](const OnlineState& state) { watcher_.rescue(candidate, restart, state); };
        if (watcher_.after_batch)
          options.after_batch = [&](const BatchProgress& progress) {
            const std::lock_guard<std::mutex> lock(mutex_);
            stopped = must_end() || !watcher_.after_batch(candidate, restart, progress);
            return !stopped;
          };
        training.result = train_online(candidates_[candidate].make(restart), data_, options, [&](const auto& progress) {
          const std::lock_guard<std::mutex> lock(mutex_);
          stopped = must_end() || (watcher_.after_epoch && !watcher_.after_epoch(candidate, restart, progress));
          return !stopped;
        });
        const OnlineResult& result = training.result;
        if (together != nullptr) stopped = !result.finished && result.state.epoch < until;  // whoever asked for it
        states_[index] = std::make_shared<OnlineState>(training.result.state);
      } else if (!training.result.best.mode.defined()) {
        training.result.failure = "its training did not begin";
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      stopped_[index] = stopped;
      if ((stopped || last) && watcher_.ended) watcher_.ended(training);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  bool must_end() const { return error_ || (heartbeat_ && heartbeat_->lost()); }

  const std::vector<Candidate>& candidates_;
  const Dataset& data_;
  const CandidatesOptions& options_;
  const CandidatesWatcher& watcher_;
  std::vector<CandidateTraining> all_;
  std::vector<std::shared_ptr<const OnlineState>> states_;
  std::vector<bool> stopped_;  // by the watcher
  std::mutex mutex_;
  std::exception_ptr error_;
  std::optional<Heartbeat> heartbeat_;  // with a queue
  bool gave_up_ = false;                // waiting for other ranks
};

}  // namespace

std::vector<CandidateTraining> train_candidates(const std::vector<Candidate>& candidates, const Dataset& data,
                                                const CandidatesOptions& options, const CandidatesWatcher& watcher) {
  if (candidates.empty()) throw Error(ErrorKind::usage, "There are no candidates to train; give at least one.");
  Trainings trainings(candidates, data, options, watcher);
  for (const int64_t rung : options.rungs) {
    trainings.train_until(rung);
    trainings.eliminate(rung);
    if (options.queue != nullptr && trainings.was_stopped()) return trainings.take();
  }
  trainings.train_until(options.online.epochs);
  return trainings.take();
}

}  // namespace ockham
