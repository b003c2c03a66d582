#include "ockham/predict/table_predictions.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

constexpr double quantile_975 = 1.959963984540054;
constexpr int64_t forward_batch = 256;
static_assert(predict_part % forward_batch == 0);

at::Tensor shape_inputs(const TrainedModel& trained, const at::Tensor& inputs) {
  int64_t features = 1;
  for (int64_t size : trained.input_shape) features *= size;
  if (inputs.dim() < 1 || inputs.size(0) == 0)
    throw Error(ErrorKind::data, "there are no examples to predict for; at least one is expected");
  if (inputs.numel() != inputs.size(0) * features)
    throw Error(ErrorKind::data, fmt::format("the inputs have shape [{}], but the model takes [N, {}]",
                                             fmt::join(inputs.sizes(), ", "), fmt::join(trained.input_shape, ", ")));
  std::vector<int64_t> shape = {inputs.size(0)};
  shape.insert(shape.end(), trained.input_shape.begin(), trained.input_shape.end());
  return inputs.reshape(shape);
}

double temperature_of(const Hyperparameters& values) {
  const bool has = values.log_temperature.defined() && values.log_temperature.numel() > 0;
  return has ? std::exp(values.log_temperature.item<double>()) : 1;
}

PredictMethod choose(PredictMethod wish, Task task) {
  if (task == Task::classification) {
    const bool standard = wish == PredictMethod::automatic || wish == PredictMethod::linearised;
    return standard ? PredictMethod::probit : wish;
  }
  if (wish == PredictMethod::automatic) return PredictMethod::linearised;
  if (wish == PredictMethod::probit || wish == PredictMethod::sampled)
    throw Error(ErrorKind::usage,
                fmt::format("the method {} is for classes, but this model is a regression, whose linearised predictive "
                            "has a closed form; use linearised or map",
                            wish == PredictMethod::probit ? "probit" : "sampled"));
  return wish;
}

/// [N, C] mean and variance of f to the target's units.
RegressionTable in_target_units(const Model& model, const TableEncoding& encoding, const at::Tensor& mean,
                                const at::Tensor& variance) {
  RegressionTable table;
  if (std::holds_alternative<Poisson>(model.likelihood)) {
    table.mean = (mean + 0.5 * variance).exp();
    table.sd_epistemic = table.mean * variance.expm1().sqrt();
    table.sd_noise = table.mean.sqrt();
  } else {
    const at::Tensor scale = target_scales(encoding);
    table.mean = target_means(encoding) + scale * mean;
    table.sd_epistemic = scale * variance.sqrt();
    table.sd_noise = (scale * model.hyperparameters.log_noise.exp()).expand_as(mean).contiguous();
  }
  table.sd = (table.sd_epistemic.square() + table.sd_noise.square()).sqrt();
  table.lower95 = table.mean - quantile_975 * table.sd;
  table.upper95 = table.mean + quantile_975 * table.sd;
  if (std::holds_alternative<Poisson>(model.likelihood)) table.lower95.clamp_min_(0);
  return table;
}

}  // namespace

void expect_finite_predictions(const at::Tensor& rows, int64_t first) {
  if (std::isfinite(rows.sum().item<double>()) || rows.isfinite().all().item<bool>()) return;
  const int64_t row = rows.isfinite().logical_not().flatten(1).any(1).nonzero()[0].item<int64_t>();
  throw Error(ErrorKind::numerical,
              fmt::format("the prediction for example {} (counted from 1) is not finite: its inputs are far outside of "
                          "what the network was trained on; check that row",
                          first + row + 1));
}

at::Tensor predict_outputs(const Model& model, const at::Tensor& inputs,
                           const std::function<void(int64_t examples_done)>& progress) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> outputs;
  for (int64_t first = 0; first < inputs.size(0); first += forward_batch) {
    const int64_t count = std::min(forward_batch, inputs.size(0) - first);
    outputs.push_back(model.network.forward(inputs.narrow(0, first, count).to(model.network.dtype())).to(at::kDouble));
    if (progress) progress(first + count);
  }
  return at::cat(outputs) / temperature_of(model.hyperparameters);
}

at::Tensor predict_outputs(const TrainedModel& trained, const at::Tensor& inputs,
                           const std::function<void(int64_t examples_done)>& progress) {
  return predict_outputs(trained.model, shape_inputs(trained, inputs), progress);
}

RegressionTable map_regression(const Model& model, const TableEncoding& encoding, const at::Tensor& outputs) {
  return in_target_units(model, encoding, outputs, at::zeros_like(outputs));
}

void for_each_prediction(const TrainedModel& trained, const at::Tensor& inputs, const PredictOptions& options,
                         const std::function<void(const FunctionPredictive& chunk, int64_t first)>& use) {
  const at::Tensor shaped = shape_inputs(trained, inputs);
  const int64_t outputs = std::max<int64_t>(1, trained.posterior.data_fit.outputs());
  constexpr int64_t covariance_bytes = int64_t{1} << 27;
  constexpr int64_t bytes = sizeof(double);
  // Not from the memory that happens to be free: the streams of samples begin with a chunk. A power of two, so that
  // parts of all examples have the same chunks.
  int64_t chunk = predict_part;
  while (chunk > 1 && chunk * outputs * outputs * bytes > covariance_bytes) chunk /= 2;
  for (int64_t first = 0; first < shaped.size(0); first += chunk) {
    const int64_t count = std::min(chunk, shaped.size(0) - first);
    const at::Tensor part = shaped.narrow(0, first, count).to(trained.model.network.dtype());
    FunctionOptions function;
    function.scope = options.scope;
    function.memory_budget = options.memory_budget;
    if (options.progress) function.progress = [&](int64_t done) { options.progress(first + done); };
    const Model& model = trained.model;
    use(predict_function(model.network, trained.posterior, model.hyperparameters, part, function), first);
  }
}

TablePredictions predict_table(const TrainedModel& trained, const at::Tensor& inputs, const PredictOptions& options) {
  TablePredictions result;
  result.method = choose(options.method, trained.encoding.task);
  if (result.method == PredictMethod::sampled && options.samples < 1)
    throw Error(ErrorKind::usage, fmt::format("the number of samples is {}, expected at least 1", options.samples));
  const bool classes = trained.encoding.task == Task::classification;
  if (result.method == PredictMethod::map) {
    const at::Tensor outputs = predict_outputs(trained, inputs, options.progress);
    expect_finite_predictions(outputs, options.first);
    if (classes) {
      result.probabilities = class_probabilities(outputs);
    } else {
      result.regression = map_regression(trained.model, trained.encoding, outputs);
      expect_finite_predictions(result.regression.sd, options.first);
    }
    return result;
  }
  std::vector<at::Tensor> means, variances, probabilities;
  for_each_prediction(trained, inputs, options, [&](const FunctionPredictive& function, int64_t first) {
    expect_finite_predictions(function.mean, options.first + first);
    expect_finite_predictions(function.covariance, options.first + first);
    if (!classes) {
      means.push_back(function.mean);
      variances.push_back(function.covariance.diagonal(0, 1, 2).clamp_min(0));
    } else if (result.method == PredictMethod::probit) {
      probabilities.push_back(predict_probit(remove_common_mode(function)));
    } else {
      at::Generator stream = random_stream({options.seed, static_cast<uint64_t>(options.first + first)});
      probabilities.push_back(predict_sampled(function, options.samples, std::move(stream)));
    }
  });
  if (classes) {
    result.probabilities = at::cat(probabilities);
  } else {
    result.regression = in_target_units(trained.model, trained.encoding, at::cat(means), at::cat(variances));
    expect_finite_predictions(result.regression.sd, options.first);  // the rate of a count is an exponential
  }
  return result;
}

}  // namespace ockham
