#include "ockham/train/train_online.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr uint64_t kOrderStream = 0x6f72646572000000;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The state with the highest evidence so far.
struct Best {
  double evidence = -std::numeric_limits<double>::infinity();
  at::Tensor mode;
  Hyperparameters hyperparameters;
  int64_t epoch = 0;
};

bool evidence_is_due(const OnlineOptions& options, int64_t epoch) {
  const bool regular = epoch > options.burn_in && epoch % options.frequency == 0;
  return regular || epoch == options.epochs;  // the last state always has its evidence
}

// Targets once, in the form that the likelihood wants; the width C comes from the network.
Dataset prepared(const Network& network, const Likelihood& likelihood, const Dataset& data) {
  at::NoGradGuard no_gradients;
  const at::Tensor first = data.inputs().narrow(0, 0, 1);
  const at::Tensor output = network.forward(first.is_floating_point() ? first.to(network.dtype()) : first);
  const int64_t outputs = output.dim() == 1 ? 1 : output.size(1);
  const at::Tensor inputs = data.inputs().is_floating_point() ? data.inputs().to(network.dtype()) : data.inputs();
  return Dataset(inputs, prepare_targets(likelihood, data.targets(), outputs, network.dtype()));
}

}  // namespace

OnlineResult train_online(const Network& network, const Likelihood& likelihood, const Dataset& data, const Prior& prior,
                          const Hyperparameters& start, const OnlineOptions& options, const OnlineWatcher& watcher) {
  const Dataset examples = prepared(network, likelihood, data);
  MapOptions map = options.map;
  map.likelihood_weight = options.laplace.likelihood_weight;
  LaplaceOptions laplace = options.laplace;
  Optimiser optimiser(network.parameters(), options.optimiser);
  Hyperparameters hyperparameters = start.clone();
  HyperState hyper_state;
  OnlineResult result;
  Best best;
  int64_t passes_without_rise = 0;

  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    double loss = 0;
    const MapModel model{network, likelihood, prior, hyperparameters};
    optimiser.set_learning_rate(learning_rate_at(options.optimiser, epoch - 1, options.epochs));
    result.seconds_training += seconds_of([&] {
      const auto order =
          random_stream({options.seed, options.candidate, options.restart, static_cast<uint64_t>(epoch), kOrderStream});
      loss = map_epoch(model, examples, map, optimiser, order);
    });
    result.epochs = epoch;
    result.losses.push_back(loss);
    if (!std::isfinite(loss)) {
      result.failure = fmt::format("the loss is not finite in epoch {}: use a smaller learning rate (--lr)", epoch);
      break;
    }

    const OnlinePass* pass = nullptr;
    if (evidence_is_due(options, epoch)) {
      try {
        result.seconds_curvature += seconds_of([&] {
          const LaplaceFit fit = fit_laplace(network, likelihood, examples, prior, hyperparameters, laplace);
          const HyperResult steps = optimise_hyperparameters(fit, hyperparameters, options.hyper, hyper_state);
          if (result.passes.empty()) result.messages = fit.messages;
          passes_without_rise =
              steps.best_evidence > best.evidence + options.stall_tolerance ? 0 : passes_without_rise + 1;
          if (steps.best_evidence > best.evidence) best = {steps.best_evidence, fit.mode, steps.best.clone(), epoch};
          hyperparameters = steps.hyperparameters;
          result.passes.push_back({epoch, loss, steps.evidences, hyperparameters.clone()});
        });
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::numerical) throw;
        result.failure = fmt::format("in epoch {}: {}", epoch, error.what());
        break;
      }
      laplace.curvature.verify = false;  // the network was verified by the first pass
      pass = &result.passes.back();
    }
    if (watcher && !watcher(epoch, loss, pass)) break;
    if (options.stall_passes > 0 && passes_without_rise >= options.stall_passes) break;
  }

  if (!best.mode.defined()) {
    if (result.failure.empty()) result.failure = "no curvature pass was made: fewer epochs than the burn-in";
    return result;
  }
  network.set_flat_parameters(best.mode);
  result.mode = best.mode;
  result.hyperparameters = best.hyperparameters;
  result.log_evidence = best.evidence;
  result.best_epoch = best.epoch;
  result.gradient_norm = map_gradient_norm({network, likelihood, prior, result.hyperparameters}, examples, map);
  return result;
}

}  // namespace ockham
