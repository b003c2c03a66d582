#include "app/fit_progress.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

FitProgress::FitProgress(const FitFlags& resolved, const TableEncoding& encoding, int64_t examples)
    : flags_(resolved),
      encoding_(encoding),
      examples_(examples),
      quiet_(resolved.common.quiet),
      terminal_(isatty(2) == 1),
      shown_(start_) {}

std::string FitProgress::name_of(size_t candidate, size_t restart) const {
  return flags_.restarts == 1 ? flags_.networks[candidate]
                              : fmt::format("{} #{}", flags_.networks[candidate], restart + 1);
}

void FitProgress::resumed(size_t candidate, size_t restart, int64_t epoch) {
  running_[{candidate, restart}].epoch = epoch;
  epochs_skipped_ += epoch;
}

std::string FitProgress::time_left() const {
  const int64_t trainings = static_cast<int64_t>(flags_.networks.size()) * flags_.restarts;
  const int64_t left = trainings * *flags_.epochs - epochs_skipped_ - epochs_done_;
  const double elapsed = seconds_between(start_, Clock::now());
  if (epochs_done_ < 10 || elapsed < 1) return "";
  return fmt::format(", about {} left",
                     duration(elapsed * static_cast<double>(left) / static_cast<double>(epochs_done_)));
}

void FitProgress::after_epoch(size_t candidate, size_t restart, const OnlineProgress& progress) {
  Running& mine = running_[{candidate, restart}];
  mine.epoch = progress.epoch;
  ++epochs_done_;
  if (progress.pass != nullptr) {
    mine.has_evidence = true;
    mine.evidence = progress.pass->log_evidence;
    const at::Tensor& noise = progress.pass->hyperparameters.log_noise;
    mine.noise = noise.numel() == 0 ? 0 : std::exp(noise[0].item<double>()) * encoding_.targets.front().sd;
  }
  if (quiet_ || seconds_between(shown_, Clock::now()) < (terminal_ ? kTerminalSeconds : kPlainSeconds)) return;
  shown_ = Clock::now();
  show(candidate, restart);
}

void FitProgress::show(size_t candidate, size_t restart) {
  const size_t trainings = flags_.networks.size() * static_cast<size_t>(flags_.restarts);
  std::string line = fmt::format("{}/{} done{}", ended_, trainings, time_left());
  const auto describe = [&](size_t one, size_t of, const Running& state) {
    std::string text = fmt::format(" | {} epoch {}/{}", name_of(one, of), state.epoch, *flags_.epochs);
    if (state.has_evidence)
      text += fmt::format(", evidence {:.1f}", log_density_in_target_units(encoding_, state.evidence, examples_));
    if (state.noise > 0) text += fmt::format(", noise {:.3g}", state.noise);
    return text;
  };
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
  epochs_skipped_ += *flags_.epochs - training.result.state.epoch;
  if (quiet_) return;
  clear();
  const OnlineResult& result = training.result;
  const size_t trainings = flags_.networks.size() * static_cast<size_t>(flags_.restarts);
  std::string line = fmt::format("{}/{} {}: ", ended_, trainings, name_of(training.candidate, training.restart));
  if (result.best.mode.defined()) {
    line +=
        fmt::format("log evidence {:.2f} after {} epochs",
                    log_density_in_target_units(encoding_, result.best.log_evidence, examples_), result.state.epoch);
    line += fmt::format(", {}", duration(result.state.seconds_training + result.state.seconds_curvature));
  }
  if (training.eliminated_at > 0) line += "; given up as hopeless";
  if (!result.failure.empty())
    line += fmt::format("{}{}", result.best.mode.defined() ? "; ended early: " : "", result.failure);
  fmt::print(stderr, "{}\n", line);
}

}  // namespace ockham::app
