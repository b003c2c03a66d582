#include "app/fit_training.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "app/fit_progress.h"
#include "app/fit_trace.h"
#include "ockham/train/online_checkpoint.h"

namespace ockham::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Checkpoints of the trainings, each in a file of its own.
class Checkpoints {
 public:
  Checkpoints(const FitPlan& plan, const FitData& data, const RunDirectory& run)
      : plan_(plan), run_(run), fingerprint_(fingerprint(run.configuration())), metrics_(plan, data, run) {}

  std::shared_ptr<const OnlineState> read(size_t candidate, size_t restart) {
    const std::string path = path_of(candidate, restart);
    if (!std::filesystem::exists(path)) return nullptr;
    const auto state = std::make_shared<OnlineState>(online_state(read_checkpoint(path, fingerprint_)));
    metrics_.add(candidate, restart, state->passes);
    return state;
  }

  bool due(size_t candidate, size_t restart) {
    auto [place, is_new] = written_.try_emplace({candidate, restart}, Clock::now());
    return !is_new && seconds_since(place->second) > plan_.flags.checkpoint_interval;
  }

  void write(size_t candidate, size_t restart, const OnlineState& state) {
    write_checkpoint(path_of(candidate, restart), to_checkpoint(state), fingerprint_);
    metrics_.add(candidate, restart, state.passes);
    written_[{candidate, restart}] = Clock::now();
  }

 private:
  std::string path_of(size_t candidate, size_t restart) const {
    return run_.checkpoint_path(fmt::format("candidate-{}-restart-{}", candidate + 1, restart + 1));
  }

  const FitPlan& plan_;
  const RunDirectory& run_;
  std::string fingerprint_;
  MetricsLog metrics_;
  std::map<std::pair<size_t, size_t>, Clock::time_point> written_;
};

}  // namespace

FitTrainings train_in_directory(const FitPlan& plan, const FitData& data, const RunDirectory& run,
                                const InterruptWatch& interrupt, ProgressLine& line) {
  const auto start = Clock::now();
  Checkpoints checkpoints(plan, data, run);
  FitProgress progress(plan, data, line);
  FitTrainings trainings;
  const auto go_on = [&] {
    if (interrupt.interrupted()) trainings.end = TrainingsEnd::interrupted;
    const double limit = plan.flags.common.time_limit;
    if (limit > 0 && seconds_since(start) > limit && trainings.end == TrainingsEnd::complete)
      trainings.end = TrainingsEnd::time_limit;
    return trainings.end == TrainingsEnd::complete;
  };

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
    if (checkpoints.due(candidate, restart)) checkpoints.write(candidate, restart, now.state());
    return go_on();
  };
  watcher.ended = [&](const CandidateTraining& training) {
    if (training.result.state.theta.defined())
      checkpoints.write(training.candidate, training.restart, training.result.state);
    if (trainings.end != TrainingsEnd::interrupted) progress.ended(training);
  };
  trainings.all = train_candidates(plan.candidates, data.training, plan.options, watcher);
  line.clear();
  return trainings;
}

}  // namespace ockham::app
