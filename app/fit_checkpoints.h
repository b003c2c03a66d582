// The checkpoints of a fit's trainings, each in a file of its own: RUN/checkpoint/candidate-1-restart-1.safetensors.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "app/fit_trace.h"

namespace ockham::app {

class FitCheckpoints {
 public:
  /// In the directory `run` of the configuration with that fingerprint. `metrics`, which may be null, is told of what
  /// is read and written here.
  FitCheckpoints(std::string run, std::string fingerprint, double interval, MetricsLog* metrics);

  /// Null when there is none.
  std::shared_ptr<const OnlineState> read(size_t candidate, size_t restart);
  /// Whether the interval has passed since the last one, or since the first question.
  bool due(size_t candidate, size_t restart);
  void write(size_t candidate, size_t restart, const OnlineState& state);
  /// What a rank has when another is lost. Several write the same, each file is whole, and none goes back.
  void write_if_newer(size_t candidate, size_t restart, const OnlineState& state);

 private:
  using Clock = std::chrono::steady_clock;
  std::string path_of(size_t candidate, size_t restart) const;

  std::string run_, fingerprint_;
  double interval_;
  MetricsLog* metrics_;
  std::map<std::pair<size_t, size_t>, Clock::time_point> written_;
};

}  // namespace ockham::app
