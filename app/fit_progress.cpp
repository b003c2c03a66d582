#include "app/fit_progress.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/durations.h"

namespace ockham::app {
namespace {

constexpr double kTerminalSeconds = 0.2, kPlainSeconds = 30;

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

size_t terminal_width() {
  winsize size{};
  return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

FitProgress::FitProgress(const FitPlan& plan, const FitData& data)
    : plan_(plan), data_(data), quiet_(plan.flags.common.quiet), terminal_(isatty(2) == 1), shown_(start_) {}

std::string FitProgress::name_of(size_t candidate, size_t restart) const {
  const FitFlags& flags = plan_.flags;
  return flags.restarts == 1 ? flags.networks[candidate]
                             : fmt::format("{} #{}", flags.networks[candidate], restart + 1);
}

double FitProgress::all_work() const {
  double sum = 0;
  for (size_t candidate = 0; candidate < plan_.candidates.size(); ++candidate) sum += weight(candidate);
  return sum * static_cast<double>(plan_.flags.restarts * *plan_.flags.epochs);
}

void FitProgress::resumed(size_t candidate, size_t restart, int64_t epoch) {
  running_[{candidate, restart}].epoch = epoch;
  work_skipped_ += weight(candidate) * static_cast<double>(epoch);
}

std::string FitProgress::time_left() const {
  const double elapsed = seconds_between(start_, Clock::now());
  double done = work_done_;
  for (const auto& [key, state] : running_)
    if (state.within.epoch > state.epoch && !state.within.curvature)
      done += weight(key.first) * static_cast<double>(state.within.examples_done) /
              static_cast<double>(data_.training.size());
  const bool too_early = elapsed < 1 || done == 0 || (epochs_done_ < 10 && !data_.images);
  if (too_early) return "";
  const double work_left = std::max(0.0, all_work() - work_skipped_ - done);
  return fmt::format(", about {} left", duration(elapsed * work_left / done));
}

void FitProgress::after_batch(size_t candidate, size_t restart, const BatchProgress& progress) {
  Running& mine = running_[{candidate, restart}];
  if (mine.within.epoch != progress.epoch) {
    mine.first_batch = Clock::now();
    mine.first_done = progress.examples_done;
  }
  mine.within = progress;
  const int64_t since = progress.examples_done - mine.first_done;
  if (!progress.curvature && since > 0)
    mine.examples_second = static_cast<double>(since) / seconds_between(mine.first_batch, Clock::now());
  show_now_and_then(candidate, restart);
}

void FitProgress::after_epoch(size_t candidate, size_t restart, const OnlineProgress& progress) {
  Running& mine = running_[{candidate, restart}];
  mine.epoch = progress.epoch;
  ++epochs_done_;
  work_done_ += weight(candidate);
  if (progress.pass != nullptr) {
    mine.has_evidence = true;
    mine.evidence = progress.pass->log_evidence;
    const at::Tensor& noise = progress.pass->hyperparameters.log_noise;
    mine.noise = noise.numel() == 0 ? 0 : std::exp(noise[0].item<double>()) * data_.encoding.targets.front().sd;
  } else if (mine.within.epoch != progress.epoch) {
    mine.examples_second = static_cast<double>(data_.training.size()) / seconds_between(mine.epoch_end, Clock::now());
  }
  mine.epoch_end = Clock::now();
  show_now_and_then(candidate, restart);
}

void FitProgress::show_now_and_then(size_t candidate, size_t restart) {
  if (quiet_ || seconds_between(shown_, Clock::now()) < (terminal_ ? kTerminalSeconds : kPlainSeconds)) return;
  shown_ = Clock::now();
  show(candidate, restart);
}

std::string FitProgress::describe(size_t candidate, size_t restart, const Running& state) const {
  std::string text = fmt::format(" | {} epoch {}/{}", name_of(candidate, restart), state.epoch, *plan_.flags.epochs);
  if (state.within.epoch > state.epoch)
    text += fmt::format(
        ", {} {:.0f} %", state.within.curvature ? "evidence of the next" : "next",
        100.0 * static_cast<double>(state.within.examples_done) / static_cast<double>(data_.training.size()));
  if (data_.images && state.examples_second > 0) text += fmt::format(", {:.0f} images/s", state.examples_second);
  if (state.has_evidence)
    text += fmt::format(", evidence {:.1f}",
                        log_density_in_target_units(data_.encoding, state.evidence, data_.training.size()));
  if (state.noise > 0) text += fmt::format(", noise {:.3g}", state.noise);
  return text;
}

void FitProgress::show(size_t candidate, size_t restart) {
  const size_t trainings = plan_.candidates.size() * static_cast<size_t>(plan_.flags.restarts);
  std::string line = fmt::format("{}/{} done{}", ended_, trainings, time_left());
  if (!terminal_) {
    fmt::print(stderr, "{}{}\n", line, describe(candidate, restart, running_[{candidate, restart}]));
    return;
  }
  for (const auto& [key, state] : running_) line += describe(key.first, key.second, state);
  line.resize(std::min(line.size(), terminal_width() - 1));
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  line_open_ = true;
}

void FitProgress::clear() {
  if (line_open_) fmt::print(stderr, "\r\033[K");
  line_open_ = false;
}

void FitProgress::ended(const CandidateTraining& training) {
  running_.erase({training.candidate, training.restart});
  ++ended_;
  work_skipped_ += weight(training.candidate) * static_cast<double>(*plan_.flags.epochs - training.result.state.epoch);
  if (quiet_) return;
  clear();
  const OnlineResult& result = training.result;
  const size_t trainings = plan_.candidates.size() * static_cast<size_t>(plan_.flags.restarts);
  std::string line = fmt::format("{}/{} {}: ", ended_, trainings, name_of(training.candidate, training.restart));
  if (result.best.mode.defined()) {
    line += fmt::format("log evidence {:.2f} after {} epochs",
                        log_density_in_target_units(data_.encoding, result.best.log_evidence, data_.training.size()),
                        result.state.epoch);
    line += fmt::format(", {}", duration(result.state.seconds_training + result.state.seconds_curvature));
  }
  if (training.eliminated_at > 0) line += "; given up as hopeless";
  if (!result.failure.empty())
    line += fmt::format("{}{}", result.best.mode.defined() ? "; ended early: " : "", result.failure);
  fmt::print(stderr, "{}\n", line);
}

}  // namespace ockham::app
