#include "experiments/kept_training.h"

#include <chrono>
#include <filesystem>
#include <memory>

#include "ockham/base/error.h"
#include "ockham/store/checkpoint.h"
#include "ockham/train/online_checkpoint.h"

namespace ockham::paper {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kCheckpointSeconds = 60;
constexpr double kShortTraining = 5;  // seconds: repeating it is as cheap as keeping it
// The runner empties a cell's directory when the cell's settings change, so one word will do.
constexpr const char* kFingerprint = "ockham paper";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::shared_ptr<const OnlineState> read_state(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return nullptr;
  try {
    return std::make_shared<OnlineState>(online_state(read_checkpoint(path, kFingerprint)));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    return nullptr;
  }
}

}  // namespace

OnlineResult train_kept(const CellContext& context, const Model& model, const Dataset& data, OnlineOptions options,
                        const std::string& name) {
  const std::string path = context.directory.empty() ? "" : context.directory + "/" + name + ".checkpoint";
  const auto write = [&path](const OnlineState& state) {
    if (!path.empty()) write_checkpoint(path, to_checkpoint(state), kFingerprint);
  };
  const auto start = Clock::now();
  auto written = start;
  const double epochs = static_cast<double>(options.epochs), examples = static_cast<double>(data.size());
  bool interrupted = false;
  const auto go_on = [&](double epochs_done) {
    interrupted = context.go_on && !context.go_on(epochs_done / epochs);
    return !interrupted;
  };

  options.resume = read_state(path);
  options.after_batch = [&](const BatchProgress& now) {
    const double part = now.curvature ? 1 : static_cast<double>(now.examples_done) / examples;
    return go_on(static_cast<double>(now.epoch - 1) + 0.5 * part);
  };
  OnlineResult result = train_online(model, data, options, [&](const OnlineProgress& now) {
    if (seconds_since(written) > kCheckpointSeconds) {
      write(now.state());
      written = Clock::now();
    }
    return go_on(static_cast<double>(now.epoch));
  });
  if (!result.finished || interrupted) {
    write(result.state);
    throw Interrupted();
  }
  if (seconds_since(start) > kShortTraining) write(result.state);
  return result;
}

CellContext part_of(const CellContext& context, double first, double last) {
  return {context.directory, [go_on = context.go_on, first, last](double fraction) {
            return !go_on || go_on(first + fraction * (last - first));
          }};
}

CellContext part_of(const CellContext& context, int64_t index, int64_t count) {
  const double parts = static_cast<double>(count);
  return part_of(context, static_cast<double>(index) / parts, static_cast<double>(index + 1) / parts);
}

}  // namespace ockham::paper
