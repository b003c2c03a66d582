#include "ockham/predict/linearised.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/platform.h"
#include "ockham/curvature/output_gradients.h"
#include "ockham/curvature/restrict_curvature.h"
#include "ockham/evidence/curvature_at.h"
#include "ockham/observe/verified_observer.h"

namespace ockham {
namespace {

/// Large networks of float32 stay in it: the products are most of the work, and rounding of their kind is far below
/// what the posterior is known to.
at::ScalarType type_of_products(const Network& network) {
  constexpr int64_t small_network = int64_t{1} << 16;
  return network.layout().total() <= small_network ? at::kDouble : network.dtype();
}

/// A part of the budget, and no more than keeps batches the same on every machine that has a few gigabytes.
int64_t examples_at_once(const FunctionOptions& options, int64_t bytes_per_example, int64_t workers) {
  constexpr int64_t most_bytes = int64_t{1} << 28;
  const int64_t budget = options.memory_budget > 0 ? options.memory_budget : default_memory_budget();
  return std::clamp<int64_t>(std::min(budget / (4 * workers), most_bytes) / bytes_per_example, 1,
                             std::max<int64_t>(1, options.batch_size));
}

/// Does pieces 0, 1, ... on up to `workers` threads, this one among them, each with one thread of ATen and BLAS:
/// threads that meet within every product wait for each other more than they work. The same pieces are the same bits on
/// one thread. `work` returns how many examples a piece was; `progress` hears the sum, one call at a time.
void run_each(int64_t pieces, int64_t workers, const std::function<int64_t(int64_t piece)>& work,
              const std::function<void(int64_t examples_done)>& progress) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  int64_t done = 0;
  std::exception_ptr error;
  const auto loop = [&] {
    const SingleThread single;
    try {
      for (int64_t piece; !failed && (piece = next++) < pieces;) {
        const int64_t examples = work(piece);
        const std::lock_guard<std::mutex> lock(mutex);
        done += examples;
        if (progress && !failed) progress(done);
      }
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < std::min(workers, pieces); ++i) others.emplace_back(loop);
  loop();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

std::vector<size_t> parameters_in_scope(PosteriorScope scope, const Observation& sample) {
  if (scope == PosteriorScope::whole) return {};
  const auto last = find_last_layer(sample);
  if (!last)
    throw Error(ErrorKind::usage,
                "The network has no linear layer whose weights alone could be uncertain; use the posterior of the "
                "whole network.");
  return last->parameters;
}

}  // namespace

FunctionPredictive predict_function(const Network& network, const LaplaceFit& fit,
                                    const Hyperparameters& hyperparameters, const at::Tensor& inputs,
                                    const FunctionOptions& options) {
  if (inputs.dim() == 0 || inputs.size(0) == 0) {
    throw Error(ErrorKind::data, "There are no inputs to predict for; expected at least one example.");
  }
  const VerifiedObserver observer(network, inputs, fit.options.curvature.observe);
  OutputGradients::Options gradient_options;
  gradient_options.parameters = parameters_in_scope(options.scope, observer.sample());
  gradient_options.type = type_of_products(network);
  CurvatureAt at = curvature_at(fit, hyperparameters);
  if (options.scope == PosteriorScope::last_layer) {
    DecomposeOptions decompose;
    decompose.damping = fit.options.damping;
    at.curvature =
        DecomposedCurvature(restrict_curvature(at.curvature.curvature(), network.layout(), gradient_options.parameters),
                            fit.prior, decompose);
  }
  const OutputPosterior posterior = at.curvature.output_posterior(at.point, gradient_options.type);
  const int64_t workers = std::max(1, allowed_threads());
  const int64_t bytes = output_gradient_bytes(network, observer.sample(), gradient_options.parameters);
  const int64_t chunk = examples_at_once(options, bytes, workers);
  const int64_t chunks = (inputs.size(0) + chunk - 1) / chunk;
  std::vector<at::Tensor> means(chunks), covariances(chunks);
  const auto predict_chunk = [&](int64_t k) {
    const int64_t count = std::min(chunk, inputs.size(0) - k * chunk);
    const Observation observation = observer.observe(inputs.narrow(0, k * chunk, count));
    const OutputGradients gradients(network, observation, gradient_options);
    means[k] = observation.outputs().detach().to(at::kDouble);
    covariances[k] = posterior.covariance(gradients);
    return count;
  };
  run_each(chunks, workers, predict_chunk, options.progress);
  FunctionPredictive result{at::cat(means), at::cat(covariances)};
  if (hyperparameters.log_temperature.defined() && hyperparameters.log_temperature.numel() > 0) {
    const double temperature = std::exp(hyperparameters.log_temperature.item<double>());
    result.mean = result.mean / temperature;
    result.covariance = result.covariance / (temperature * temperature);
  }
  return result;
}

FunctionPredictive predict_function(const Network& network, const LaplaceFit& fit,
                                    const Hyperparameters& hyperparameters, const at::Tensor& inputs,
                                    int64_t batch_size) {
  FunctionOptions options;
  options.batch_size = batch_size;
  return predict_function(network, fit, hyperparameters, inputs, options);
}

RegressionPredictive predict_regression(const FunctionPredictive& function, const Hyperparameters& hyperparameters) {
  const int64_t outputs = function.mean.size(1);
  const int64_t given = hyperparameters.log_noise.defined() ? hyperparameters.log_noise.numel() : 0;
  if (given != 1 && given != outputs) {
    throw Error(ErrorKind::usage, "A regression predictive needs one noise, or one for each of " +
                                      std::to_string(outputs) + " outputs, but there are " + std::to_string(given) +
                                      ".");
  }
  RegressionPredictive result{function.mean, function.covariance, function.covariance.clone()};
  result.total.diagonal(0, 1, 2).add_((2 * hyperparameters.log_noise).exp());
  return result;
}

at::Tensor class_probabilities(const at::Tensor& logits) {
  if (logits.size(-1) > 1) return at::softmax(logits, -1);
  return at::cat({at::sigmoid(-logits), at::sigmoid(logits)}, -1);
}

FunctionPredictive remove_common_mode(const FunctionPredictive& logits) {
  const int64_t classes = logits.mean.size(1);
  if (classes == 1) return logits;
  const at::Tensor centring = at::eye(classes, logits.mean.options()) -
                              at::full({classes, classes}, 1.0 / static_cast<double>(classes), logits.mean.options());
  const double factor = static_cast<double>(classes) / static_cast<double>(classes - 1);
  return {at::matmul(logits.mean, centring), factor * at::matmul(centring, at::matmul(logits.covariance, centring))};
}

at::Tensor predict_probit(const FunctionPredictive& function) {
  const at::Tensor variance = function.covariance.diagonal(0, 1, 2).clamp_min(0);
  return class_probabilities(function.mean / (1 + M_PI / 8 * variance).sqrt());
}

at::Tensor predict_sampled(const FunctionPredictive& function, int64_t samples, at::Generator generator) {
  if (samples < 1) {
    throw Error(ErrorKind::usage, "The number of samples is " + std::to_string(samples) + ", expected at least 1.");
  }
  const auto [values, vectors] = at::linalg_eigh(function.covariance);
  // Round-off may leave eigenvalues just below zero.
  const at::Tensor root = vectors * values.clamp_min(0).sqrt().unsqueeze(1);  // [N, C, C]
  const int64_t examples = function.mean.size(0), outputs = function.mean.size(1);
  at::Tensor total;
  for (int64_t s = 0; s < samples; ++s) {
    const at::Tensor noise = at::randn({examples, outputs, 1}, generator, at::kDouble);
    const at::Tensor sample = class_probabilities(function.mean + at::bmm(root, noise).squeeze(2));
    total = total.defined() ? total.add_(sample) : sample;
  }
  return total / static_cast<double>(samples);
}

}  // namespace ockham
