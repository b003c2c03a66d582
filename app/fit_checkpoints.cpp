#include "app/fit_checkpoints.h"

#include <fmt/format.h>

#include <filesystem>

#include "ockham/train/online_checkpoint.h"

namespace ockham::app {

FitCheckpoints::FitCheckpoints(std::string run, std::string fingerprint, double interval, MetricsLog* metrics)
    : run_(std::move(run)), fingerprint_(std::move(fingerprint)), interval_(interval), metrics_(metrics) {}

std::string FitCheckpoints::path_of(size_t candidate, size_t restart) const {
  return checkpoint_path(run_, fmt::format("candidate-{}-restart-{}", candidate + 1, restart + 1));
}

std::shared_ptr<const OnlineState> FitCheckpoints::read(size_t candidate, size_t restart) {
  const std::string path = path_of(candidate, restart);
  if (!std::filesystem::exists(path)) return nullptr;
  const auto state = std::make_shared<OnlineState>(online_state(read_checkpoint(path, fingerprint_)));
  if (metrics_ != nullptr) metrics_->add(candidate, restart, state->passes);
  return state;
}

bool FitCheckpoints::due(size_t candidate, size_t restart) {
  auto [place, is_new] = written_.try_emplace({candidate, restart}, Clock::now());
  return !is_new && std::chrono::duration<double>(Clock::now() - place->second).count() > interval_;
}

void FitCheckpoints::write(size_t candidate, size_t restart, const OnlineState& state) {
  write_checkpoint(path_of(candidate, restart), to_checkpoint(state), fingerprint_);
  if (metrics_ != nullptr) metrics_->add(candidate, restart, state.passes);
  written_[{candidate, restart}] = Clock::now();
}

void FitCheckpoints::write_if_newer(size_t candidate, size_t restart, const OnlineState& state) {
  const std::string path = path_of(candidate, restart);
  if (std::filesystem::exists(path) && read_checkpoint(path, fingerprint_).count("epoch") >= state.epoch) return;
  write_checkpoint(path, to_checkpoint(state), fingerprint_);
}

}  // namespace ockham::app
