#include "ockham/predict/linearised.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/curvature/jacobian.h"
#include "ockham/evidence/curvature_at.h"

namespace ockham {
namespace {

/// Examples whose Jacobians, and what is computed from them, take a small part of the budget.
int64_t examples_at_once(int64_t batch_size, int64_t outputs, int64_t weights) {
  const int64_t copies = 4;
  const int64_t bytes = copies * std::max<int64_t>(1, outputs) * weights * static_cast<int64_t>(sizeof(double));
  return std::clamp<int64_t>(default_memory_budget() / 4 / bytes, 1, std::max<int64_t>(1, batch_size));
}

}  // namespace

FunctionPredictive predict_function(const Network& network, const LaplaceFit& fit,
                                    const Hyperparameters& hyperparameters, const at::Tensor& inputs,
                                    int64_t batch_size) {
  if (inputs.dim() == 0 || inputs.size(0) == 0) {
    throw Error(ErrorKind::data, "There are no inputs to predict for; expected at least one example.");
  }
  const CurvatureAt at = curvature_at(fit, hyperparameters);
  const int64_t chunk = examples_at_once(batch_size, fit.data_fit.outputs(), fit.prior.layout().total());
  std::vector<at::Tensor> means, covariances;
  for (int64_t first = 0; first < inputs.size(0); first += chunk) {
    const at::Tensor part = inputs.narrow(0, first, std::min(chunk, inputs.size(0) - first));
    const JacobianBatch batch = jacobian(network, part, fit.options.curvature.observe);
    means.push_back(batch.outputs.to(at::kDouble));
    covariances.push_back(at.curvature.output_covariance(at.point, batch.jacobian.to(at::kDouble)));
  }
  FunctionPredictive result{at::cat(means), at::cat(covariances)};
  if (hyperparameters.log_temperature.defined() && hyperparameters.log_temperature.numel() > 0) {
    const double temperature = std::exp(hyperparameters.log_temperature.item<double>());
    result.mean = result.mean / temperature;
    result.covariance = result.covariance / (temperature * temperature);
  }
  return result;
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
