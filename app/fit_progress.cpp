#include "app/fit_progress.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "app/counted.h"
#include "app/durations.h"

namespace ockham::app {
namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

TimeLeft::Options time_options(const FitPlan& plan, const FitData& data) {
  TimeLeft::Options options;
  options.schedule = {*plan.flags.epochs, *plan.flags.burn_in, *plan.flags.frequency};
  options.restarts = plan.options.restarts;
  options.workers = plan.options.workers;
  options.passes_were_measured = data.images.has_value();
  return options;
}

}  // namespace

FitProgress::FitProgress(const FitPlan& plan, const FitData& data, ProgressLine& line)
    : plan_(plan), data_(data), line_(line), time_left_(time_options(plan, data), plan.epoch_costs) {}

std::string FitProgress::name_of(size_t candidate, size_t restart) const {
  const FitFlags& flags = plan_.flags;
  return flags.restarts == 1 ? flags.networks[candidate]
                             : fmt::format("{} #{}", flags.networks[candidate], restart + 1);
}

double FitProgress::now() const { return seconds_between(start_, Clock::now()); }

double FitProgress::share(int64_t examples) const {
  return static_cast<double>(examples) / static_cast<double>(data_.training.size());
}

void FitProgress::resumed(size_t candidate, size_t restart, int64_t epoch) {
  resumed_[{candidate, restart}] = epoch;
  // What is done already is not to be waited for, though it begins later.
  time_left_.resume(candidate, restart, epoch);
}

void FitProgress::begin(size_t candidate, size_t restart) {
  const auto [place, is_new] = running_.try_emplace({candidate, restart});
  const auto earlier = resumed_.find({candidate, restart});
  if (is_new && earlier != resumed_.end()) place->second.epoch = earlier->second;
  place->second.epoch_end = Clock::now();
  time_left_.begin(candidate, restart, now());
}

std::string FitProgress::time_left() const {
  const std::optional<double> seconds = time_left_.seconds(now());
  return seconds && *seconds > 0.5 ? fmt::format(", about {} left", duration(*seconds)) : "";
}

void FitProgress::after_batch(size_t candidate, size_t restart, const BatchProgress& progress) {
  Running& mine = running_[{candidate, restart}];
  if (mine.within.epoch != progress.epoch) {
    mine.first_batch = Clock::now();
    mine.first_done = progress.examples_done;
  }
  mine.within = progress;
  const int64_t since = progress.examples_done - mine.first_done;
  if (!progress.curvature) {
    if (since > 0) mine.examples_second = static_cast<double>(since) / seconds_between(mine.first_batch, Clock::now());
    time_left_.after_batch(candidate, restart, share(progress.examples_done), now());
  }
  show(candidate, restart);
}

void FitProgress::after_epoch(size_t candidate, size_t restart, const OnlineProgress& progress) {
  Running& mine = running_[{candidate, restart}];
  mine.epoch = progress.epoch;
  time_left_.after_epoch(candidate, restart, progress.epoch, now());
  if (progress.pass != nullptr) {
    mine.has_evidence = true;
    mine.evidence = progress.pass->log_evidence;
    const at::Tensor& noise = progress.pass->hyperparameters.log_noise;
    mine.noise = noise.numel() == 0 ? 0 : std::exp(noise[0].item<double>()) * data_.encoding.targets.front().sd;
  } else if (mine.within.epoch != progress.epoch) {
    mine.examples_second = static_cast<double>(data_.training.size()) / seconds_between(mine.epoch_end, Clock::now());
  }
  mine.epoch_end = Clock::now();
  show(candidate, restart);
}

std::string FitProgress::describe(size_t candidate, size_t restart, const Running& state) const {
  const bool within = state.within.epoch > state.epoch;
  std::string text = fmt::format(" | {} epoch {}/{}", name_of(candidate, restart),
                                 within ? state.within.epoch : state.epoch, *plan_.flags.epochs);
  if (within)
    text += fmt::format(": {}{:.0f} %", state.within.curvature ? "curvature " : "",
                        100 * share(state.within.examples_done));
  if (data_.images && state.examples_second > 0) text += fmt::format(", {:.0f} images/s", state.examples_second);
  if (state.has_evidence)
    text += fmt::format(", evidence {:.1f}",
                        log_density_in_target_units(data_.encoding, state.evidence, data_.training.size()));
  if (state.noise > 0) text += fmt::format(", noise {:.3g}", state.noise);
  return text;
}

void FitProgress::show(size_t candidate, size_t restart) {
  if (!line_.due()) return;
  const size_t trainings = plan_.candidates.size() * static_cast<size_t>(plan_.flags.restarts);
  std::string text = fmt::format("{}/{} done{}", ended_, trainings, time_left());
  if (line_.terminal()) {
    for (const auto& [key, state] : running_) text += describe(key.first, key.second, state);
  } else {
    text += describe(candidate, restart, running_[{candidate, restart}]);
  }
  line_.show(text);
}

void FitProgress::ended(const CandidateTraining& training) {
  running_.erase({training.candidate, training.restart});
  time_left_.end(training.candidate, training.restart);
  ++ended_;
  const OnlineResult& result = training.result;
  const size_t trainings = plan_.candidates.size() * static_cast<size_t>(plan_.flags.restarts);
  std::string line = fmt::format("{}/{} {}: ", ended_, trainings, name_of(training.candidate, training.restart));
  const OnlineState& state = result.state;
  const int64_t epochs = *plan_.flags.epochs;
  const bool stalled = plan_.flags.patience > 0 && state.passes_without_rise >= plan_.flags.patience;
  const bool at_its_end = result.finished || stalled || state.epoch >= epochs || training.eliminated_at > 0;
  const bool interrupted = !at_its_end && state.epoch > 0;
  const std::string progress =
      (interrupted ? fmt::format("{} of ", state.epoch) : "") + counted(interrupted ? epochs : state.epoch, "epoch");
  if (result.best.mode.defined()) {
    line += fmt::format("log evidence {:.2f} after {}",
                        log_density_in_target_units(data_.encoding, result.best.log_evidence, data_.training.size()),
                        progress);
    line += fmt::format(", {}", duration(state.seconds_training + state.seconds_curvature));
  }
  if (interrupted) {
    line_.print(line + (result.best.mode.defined() ? "; interrupted" : "interrupted after " + progress));
    return;
  }
  if (training.eliminated_at > 0) line += "; given up as hopeless";
  if (!result.failure.empty())
    line += fmt::format("{}{}", result.best.mode.defined() ? "; ended early: " : "", result.failure);
  line_.print(line);
}

}  // namespace ockham::app
