#include "ockham/train/train_online.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/distributed/communicator.h"
#include "ockham/observe/plain_mlp.h"
#include "ockham/observe/verified_observer.h"
#include "ockham/train/evidence_pass.h"

namespace ockham {
namespace {

constexpr uint64_t kOrderStream = 0x6f72646572000000;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Inputs and targets once in the form that network and likelihood want; the width C comes from the network.
Dataset prepared(const Model& model, const Dataset& data) {
  at::NoGradGuard no_gradients;
  const at::ScalarType type = model.network.dtype();
  const at::Tensor inputs = data.inputs().is_floating_point() ? data.inputs().to(type) : data.inputs();
  const at::Tensor output = model.network.forward(inputs.narrow(0, 0, 1));
  const int64_t outputs = output.dim() == 1 ? 1 : output.size(1);
  return Dataset(inputs, prepare_targets(model.likelihood, data.targets(), outputs, type));
}

/// Below this many multiplications of a weight in one step, operators end before a second thread would have woken.
constexpr int64_t kSmallStep = 1000000;

bool has_small_steps(const Model& model, const Dataset& data, const OnlineOptions& options) {
  const int64_t rows = options.map.batch_size > 0 ? std::min(options.map.batch_size, data.size()) : data.size();
  const int64_t weights = model.network.layout().total();
  return weights < 1000 && rows * weights < kSmallStep && data.inputs().dim() == 2;
}

constexpr double kLongEpoch = 0.2;  // seconds

/// What the steps found, as rank 0 has it.
void share_steps(HyperResult& steps, HyperState& state, Communicator& communicator) {
  const auto exchange = [&](const std::vector<at::Tensor*>& tensors) {
    std::vector<at::Tensor> parts;
    for (const at::Tensor* tensor : tensors)
      if (tensor->defined()) parts.push_back(tensor->reshape(-1));
    at::Tensor flat = at::cat(parts);
    communicator.broadcast(flat, 0);
    int64_t first = 0;
    for (at::Tensor* tensor : tensors) {
      if (!tensor->defined()) continue;
      *tensor = flat.narrow(0, first, tensor->numel()).view(tensor->sizes()).clone();
      first += tensor->numel();
    }
  };
  at::Tensor values = at::tensor(steps.evidences, at::kDouble), best = at::full({1}, steps.best_evidence, at::kDouble);
  std::vector<at::Tensor*> all = {&values, &best};
  for (Hyperparameters* one : {&steps.hyperparameters, &steps.best, &state.first_moment, &state.second_moment})
    all.insert(all.end(), {&one->log_prior_precision, &one->log_noise, &one->log_temperature});
  exchange(all);
  std::copy_n(values.data_ptr<double>(), steps.evidences.size(), steps.evidences.begin());
  steps.best_evidence = best.item<double>();
}

/// The algorithm's steps on a state that can be saved.
class OnlineRun {
 public:
  OnlineRun(const Model& model, const Dataset& data, const OnlineOptions& options)
      : model_(model),
        data_(prepared(model, data)),
        by_hand_(model_.network, data_.inputs()),
        options_(options),
        optimiser_(model.network.parameters(), options.optimiser) {
    options_.map.likelihood_weight = options.laplace.likelihood_weight;
    if (options.evidence_batch.largest > 0) check_batch_passes(model, data_, options);
    options_.map.communicator = options.laplace.communicator;
    options_.map.stop = [this] { return stop_wanted_; };
    watch_batches();
    if (options.resume) {
      state_ = *options.resume;
      optimiser_.restore(state_.optimiser);
      model_.network.set_flat_parameters(state_.theta);
      model_.hyperparameters = state_.hyperparameters.clone();
    } else {
      model_.hyperparameters = model.hyperparameters.clone();
    }
  }

  bool failed() const { return !state_.failure.empty(); }
  bool stalled() const { return options_.stall_passes > 0 && state_.passes_without_rise >= options_.stall_passes; }
  bool finished() const { return state_.epoch >= options_.epochs || failed() || stalled(); }

  bool evidence_is_due() const {
    const bool regular = state_.epoch > options_.burn_in && state_.epoch % options_.frequency == 0;
    return regular || state_.epoch == options_.epochs;
  }

  void train_epoch() {
    remember();
    optimiser_.set_learning_rate(learning_rate_at(options_.optimiser, state_.epoch, options_.epochs));
    ++state_.epoch;
    const auto order = random_stream(
        {options_.seed, options_.candidate, options_.restart, static_cast<uint64_t>(state_.epoch), kOrderStream});
    try {
      state_.seconds_training +=
          seconds_of([&] { state_.losses.push_back(map_epoch(model_, data_, options_.map, optimiser_, order)); });
    } catch (const Error& error) {
      fail(error);
      state_.losses.push_back(std::numeric_limits<double>::quiet_NaN());
    }
  }

  void step_hyperparameters() {
    try {
      state_.seconds_curvature += seconds_of([&] {
        verify_once();
        keep_in_step();
        EvidencePass pass = options_.evidence_batch.largest > 0
                                ? pass_over_batches(model_, data_, options_, state_.hyper, batch_pass())
                                : pass_over_data(model_, data_, options_, state_.hyper);
        HyperResult& steps = pass.steps;
        if (communicator() != nullptr) share_steps(steps, state_.hyper, *communicator());
        if (!pass.estimate) keep_best(steps);
        if (state_.passes.empty()) state_.messages = pass.messages;
        model_.hyperparameters = steps.hyperparameters;
        state_.passes.push_back({state_.epoch, state_.losses.back(), steps.evidences, steps.hyperparameters.clone(),
                                 steps.best_evidence, pass.estimate});
      });
    } catch (const Error& error) {
      fail(error);
    }
  }

  /// Before the passes and not within the first of them: all passes, also those after a resume, go the same way.
  void verify_once() {
    CurvatureOptions& curvature = options_.laplace.curvature;
    if (!curvature.verify) return;
    curvature.observe.leave_unexplained =
        VerifiedObserver(model_.network, data_.inputs(), curvature.observe).left_unexplained();
    curvature.verify = false;
  }

  OnlineProgress progress() {
    const bool has_pass = !state_.passes.empty() && state_.passes.back().epoch == state_.epoch;
    return {state_.epoch, state_.losses.back(), has_pass ? &state_.passes.back() : nullptr, [this] { return state(); }};
  }

  OnlineState state() {
    state_.theta = model_.network.flat_parameters();
    state_.optimiser = optimiser_.save();
    state_.hyperparameters = model_.hyperparameters.clone();
    OnlineState copy = state_;
    copy.hyper.first_moment = state_.hyper.first_moment.clone();
    copy.hyper.second_moment = state_.hyper.second_moment.clone();
    return copy;
  }

  OnlineResult restore_best() {
    OnlineResult result{state_.best, 0, state(), state_.failure, finished()};
    if (!result.best.mode.defined()) {
      if (result.failure.empty())
        result.failure = result.finished ? "no curvature pass was made: fewer epochs than the burn-in"
                                         : "it was ended before its first curvature pass";
      return result;
    }
    model_.network.set_flat_parameters(result.best.mode);
    model_.hyperparameters = result.best.hyperparameters;
    // One more pass is not what an interruption asks for.
    result.gradient_norm =
        interrupted_ ? std::numeric_limits<double>::quiet_NaN() : map_gradient_norm(model_, data_, options_.map);
    return result;
  }

  bool has_others() const { return communicator() != nullptr; }
  void ask_for_the_end() { stop_wanted_ = true; }
  bool reached_its_end() const { return finished() || (options_.until > 0 && state_.epoch >= options_.until); }

  void rescue() const {
    if (options_.rescue && before_) options_.rescue(*before_);
  }

  /// To the end of the last whole epoch.
  void go_back() {
    interrupted_ = true;
    state_ = *before_;
    optimiser_.restore(state_.optimiser);
    model_.network.set_flat_parameters(state_.theta);
    model_.hyperparameters = state_.hyperparameters.clone();
  }

 private:
  /// Divergence is data; anything else goes on. Within a catch block.
  void fail(const Error& error) {
    if (error.kind() != ErrorKind::numerical) throw;
    std::string what = error.what();
    if (!what.empty() && what.back() == '.') what.pop_back();  // others put it into their sentences
    state_.failure = fmt::format("in epoch {}: {}", state_.epoch, what);
  }

  Communicator* communicator() const { return options_.laplace.communicator; }

  /// Machines of different kinds round differently: the weights of rank 0 are those of all.
  void keep_in_step() {
    if (communicator() == nullptr) return;
    at::Tensor theta = model_.network.flat_parameters().contiguous();
    communicator()->broadcast(theta, 0);
    if (communicator()->rank() != 0) model_.network.set_flat_parameters(theta);
  }

  void watch_batches() {
    if (!options_.after_batch) return;
    const auto tell = [this](bool curvature, int64_t done) {
      if (!before_ || options_.after_batch({state_.epoch, curvature, done})) return;
      if (communicator() == nullptr) throw TrainingStopped();
      stop_wanted_ = true;
    };
    options_.map.progress = [tell](int64_t done) { tell(false, done); };
    options_.laplace.curvature.progress = [tell, also = options_.laplace.curvature.progress](int64_t done) {
      if (also) also(done);
      tell(true, done);
    };
  }

  // Not before every epoch: of a small network an epoch takes no longer than such a copy.
  // With others it must be there when one of them is lost.
  void remember() {
    if (communicator() != nullptr) before_ = state();
    if (!options_.after_batch || communicator() != nullptr) return;
    const double seconds = state_.seconds_training + state_.seconds_curvature;
    const bool first = epoch_start_ < 0;
    const bool was_long = seconds - epoch_start_ > kLongEpoch;
    epoch_start_ = seconds;
    before_.reset();
    if (first || was_long) before_ = state();
  }

  /// Only states that count are worth a pass over all data.
  BatchPass batch_pass() const {
    const size_t number = state_.passes.size() + 1;
    const bool power_of_two = (number & (number - 1)) == 0;
    const bool counts = state_.epoch >= options_.best_after || state_.epoch == options_.epochs;
    return {static_cast<uint64_t>(state_.epoch), counts || power_of_two};
  }

  void keep_best(const HyperResult& steps) {
    OnlineBest& best = state_.best;
    const bool rises = steps.best_evidence > best.log_evidence + options_.stall_tolerance;
    state_.passes_without_rise = rises ? 0 : state_.passes_without_rise + 1;
    const bool only_early_ones = state_.epoch >= options_.best_after && best.epoch < options_.best_after;
    if (steps.best_evidence > best.log_evidence || only_early_ones)
      best = {steps.best_evidence, model_.network.flat_parameters(), steps.best.clone(), state_.epoch};
  }

  Model model_;
  Dataset data_;
  HandmadePasses by_hand_;  // of a plain MLP on a small table
  OnlineOptions options_;
  Optimiser optimiser_;
  OnlineState state_;
  std::optional<OnlineState> before_;  // after the last whole epoch
  double epoch_start_ = -1;            // seconds of work when the epoch began
  bool interrupted_ = false;
  bool stop_wanted_ = false;  // here; the ranks agree on it in the next step
};

}  // namespace

OnlineResult train_online(const Model& model, const Dataset& data, const OnlineOptions& options,
                          const OnlineWatcher& watcher) {
  std::optional<SerialOperators> serial;
  if (has_small_steps(model, data, options)) serial.emplace();
  OnlineRun run(model, data, options);
  try {
    while (!run.reached_its_end()) {
      run.train_epoch();
      if (!run.failed() && run.evidence_is_due()) run.step_hyperparameters();
      if (!watcher || watcher(run.progress())) continue;
      if (!run.has_others()) break;
      run.ask_for_the_end();
    }
  } catch (const TrainingStopped&) {
    run.go_back();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::peer_lost) run.rescue();
    throw;
  }
  return run.restore_best();
}

}  // namespace ockham
