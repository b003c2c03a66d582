#include "ockham/select/map_training.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr uint64_t kOrderStream = 0x6f72646572000000;
constexpr int64_t kForwardBatch = 4096;

}  // namespace

Dataset prepare_data(const Model& model, const Dataset& data) {
  at::NoGradGuard no_gradients;
  const at::ScalarType type = model.network.dtype();
  const at::Tensor inputs = data.inputs().is_floating_point() ? data.inputs().to(type) : data.inputs();
  const at::Tensor output = model.network.forward(inputs.narrow(0, 0, 1));
  const int64_t outputs = output.dim() == 1 ? 1 : output.size(1);
  return Dataset(inputs, prepare_targets(model.likelihood, data.targets(), outputs, type));
}

at::Tensor predict_outputs(const Network& network, const at::Tensor& inputs) {
  at::NoGradGuard no_gradients;
  std::vector<at::Tensor> outputs;
  for (int64_t first = 0; first < inputs.size(0); first += kForwardBatch) {
    const at::Tensor batch = inputs.narrow(0, first, std::min(kForwardBatch, inputs.size(0) - first));
    const at::Tensor output = network.forward(batch.is_floating_point() ? batch.to(network.dtype()) : batch);
    outputs.push_back((output.dim() == 1 ? output.unsqueeze(1) : output).to(at::kDouble));
  }
  return at::cat(outputs);
}

Hyperparameters fit_noise(const Model& model, const Dataset& prepared, double smallest_noise) {
  Hyperparameters fitted = model.hyperparameters.clone();
  const auto* gaussian = std::get_if<Gaussian>(&model.likelihood);
  if (gaussian == nullptr) return fitted;
  const at::Tensor targets = prepared.targets().to(at::kDouble);
  const auto mean_over = [&](const at::Tensor& squares) {  // [N, C] to [C] or [1]
    return gaussian->noise_per_output ? squares.mean(0) : squares.mean().reshape({1});
  };
  const at::Tensor squares = mean_over((predict_outputs(model.network, prepared.inputs()) - targets).square());
  const at::Tensor variance = mean_over((targets - targets.mean(0, true)).square());
  const at::Tensor least = (variance * (smallest_noise * smallest_noise)).clamp_min(1e-300);
  fitted.log_noise = at::maximum(squares, least).log() / 2;
  return fitted;
}

double map_nll(const Model& model, const Dataset& prepared) {
  const at::Tensor outputs = predict_outputs(model.network, prepared.inputs());
  return -log_likelihood(model.likelihood, outputs, prepared.targets(), model.hyperparameters) /
         static_cast<double>(prepared.size());
}

MapTraining train_map(const Model& model, const Dataset& data, const MapTrainingOptions& options,
                      const std::function<bool(int64_t)>& watcher) {
  const auto start = std::chrono::steady_clock::now();
  const Dataset prepared = prepare_data(model, data);
  Model trained = model;
  trained.hyperparameters = model.hyperparameters.clone();
  Optimiser optimiser(model.network.parameters(), options.optimiser);
  MapTraining result;
  const auto end = [&] {
    result.hyperparameters = trained.hyperparameters;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  };
  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    optimiser.set_learning_rate(learning_rate_at(options.optimiser, epoch - 1, options.epochs));
    const auto order =
        random_stream({options.seed, options.candidate, options.restart, static_cast<uint64_t>(epoch), kOrderStream});
    try {
      result.loss = map_epoch(trained, prepared, options.map, optimiser, order);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numerical) throw;
      result.failure = fmt::format("in epoch {}: {}", epoch, error.what());
      return end();
    }
    const bool due = options.noise_interval > 0 && (epoch % options.noise_interval == 0 || epoch == options.epochs);
    if (due) trained.hyperparameters = fit_noise(trained, prepared, options.smallest_noise);
    if (watcher && !watcher(epoch) && epoch < options.epochs) {
      result.interrupted = true;
      return end();
    }
  }
  return end();
}

}  // namespace ockham
