#include "experiments/mean_field.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <variant>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/train/optimiser.h"

namespace ockham::paper {
namespace {

constexpr uint64_t kWeightStream = 0x6d66766977000000, kSampleStream = 0x6d66766973000000;
constexpr double kLogTwoPi = 1.8378770664093453;

/// A group of weights with the parameters of their Gaussian and of its prior.
struct Group {
  at::Tensor mean, log_deviation, log_precision;

  at::Tensor variance() const { return at::exp(2 * log_deviation); }
  at::Tensor divergence() const {  // KL(q ‖ prior)
    const at::Tensor squares = (mean * mean + variance()).sum();
    const auto count = static_cast<double>(mean.numel());
    return 0.5 * (at::exp(log_precision) * squares - count * (1 + log_precision)) - log_deviation.sum();
  }
};

struct Layer {
  Group weight, bias;
};

at::Tensor draw_layer(const at::Tensor& inputs, const Layer& layer, at::Generator generator) {
  const at::Tensor mean = at::addmm(layer.bias.mean, inputs, layer.weight.mean.t());
  const at::Tensor variance = at::addmm(layer.bias.variance(), inputs * inputs, layer.weight.variance().t());
  return mean + at::sqrt(variance) * at::randn(mean.sizes(), generator, mean.options().requires_grad(false));
}

at::Tensor draw_outputs(at::Tensor values, const std::vector<Layer>& layers, at::Generator generator) {
  for (size_t i = 0; i < layers.size(); ++i) {
    if (i > 0) values = at::relu(values);
    values = draw_layer(values, layers[i], generator);
  }
  return values;
}

/// The variational parameters while they are fitted.
class Fit {
 public:
  Fit(const Dataset& data, const Likelihood& likelihood, int64_t outputs, const MeanFieldOptions& options)
      : likelihood_(likelihood),
        options_(options),
        inputs_(data.inputs().to(at::kDouble)),
        targets_(prepare_targets(likelihood, data.targets(), outputs, at::kDouble)),
        log_noise_(at::full({}, std::log(options.noise), at::kDouble)) {
    std::vector<int64_t> widths = {inputs_.size(1)};
    widths.insert(widths.end(), options.hidden.begin(), options.hidden.end());
    widths.push_back(outputs);
    const at::Generator generator = random_stream({options.seed, kWeightStream});
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      const double bound = 1 / std::sqrt(static_cast<double>(widths[i]));  // libtorch's own start of linear layers
      layers_.push_back(
          {make_group({widths[i + 1], widths[i]}, bound, generator), make_group({widths[i + 1]}, bound, generator)});
    }
    if (options.learn_noise && std::holds_alternative<Gaussian>(likelihood)) parameters_.push_back(log_noise_);
    for (at::Tensor& parameter : parameters_) parameter.set_requires_grad(true);
  }

  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  at::Tensor bound(at::Generator generator) const {
    at::Tensor value = expected_log_likelihood(draw_outputs(inputs_, layers_, generator));
    for (const Layer& layer : layers_) value = value - layer.weight.divergence() - layer.bias.divergence();
    return value;
  }

  MeanField result() const {
    MeanField fit{likelihood_, {}, {}, std::exp(log_noise_.item<double>()), {}, {}, 0};
    const auto value = [](const at::Tensor& tensor) { return tensor.detach().clone(); };
    for (const Layer& layer : layers_) {
      fit.layers.push_back({value(layer.weight.mean), value(layer.weight.log_deviation.exp()), value(layer.bias.mean),
                            value(layer.bias.log_deviation.exp())});
      for (const Group* group : {&layer.weight, &layer.bias})
        fit.precisions.push_back(std::exp(group->log_precision.item<double>()));
    }
    return fit;
  }

 private:
  Group make_group(const std::vector<int64_t>& shape, double bound, at::Generator generator) {
    Group group;
    group.mean = (2 * at::rand(shape, generator, at::kDouble) - 1) * bound;
    group.log_deviation = at::full(shape, std::log(options_.first_deviation), at::kDouble);
    group.log_precision = at::full({}, std::log(options_.prior_precision), at::kDouble);
    parameters_.push_back(group.mean);
    parameters_.push_back(group.log_deviation);
    if (options_.learn_prior) parameters_.push_back(group.log_precision);
    return group;
  }

  at::Tensor expected_log_likelihood(const at::Tensor& outputs) const {
    if (std::holds_alternative<Categorical>(likelihood_))
      return at::log_softmax(outputs, 1).gather(1, targets_.unsqueeze(1)).sum();
    const at::Tensor residuals = targets_ - outputs;
    return -0.5 * (residuals * residuals).sum() * at::exp(-2 * log_noise_) -
           static_cast<double>(targets_.numel()) * (log_noise_ + 0.5 * kLogTwoPi);
  }

  Likelihood likelihood_;
  MeanFieldOptions options_;
  at::Tensor inputs_, targets_, log_noise_;
  std::vector<Layer> layers_;
  std::vector<at::Tensor> parameters_;
};

double mean_of(const std::vector<double>& values, size_t first, size_t last) {
  double sum = 0;
  for (size_t i = first; i < last; ++i) sum += values[i];
  return last > first ? sum / static_cast<double>(last - first) : 0;
}

}  // namespace

MeanField fit_mean_field(const Dataset& data, const Likelihood& likelihood, int64_t outputs,
                         const MeanFieldOptions& options, const std::function<bool(double)>& go_on) {
  if (!std::holds_alternative<Gaussian>(likelihood) && !std::holds_alternative<Categorical>(likelihood))
    throw Error(ErrorKind::usage, "mean-field inference is for Gaussian and categorical likelihoods");
  const Fit fit(data, likelihood, outputs, options);
  OptimiserOptions adam;
  adam.learning_rate = options.learning_rate;
  adam.schedule = LearningRateSchedule::cosine;
  Optimiser optimiser(fit.parameters(), adam);
  const auto examples = static_cast<double>(data.size());
  const at::Generator generator = random_stream({options.seed, kSampleStream});
  std::vector<double> bounds;
  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    optimiser.set_learning_rate(learning_rate_at(adam, epoch, options.epochs));
    optimiser.zero_gradients();
    const at::Tensor bound = fit.bound(generator) / examples;
    (-bound).backward();
    optimiser.step();
    bounds.push_back(bound.item<double>());
    if (!std::isfinite(bounds.back()))
      throw Error(ErrorKind::numerical, fmt::format("the variational bound is not finite in epoch {}", epoch + 1));
    if (go_on && !go_on(static_cast<double>(epoch + 1) / static_cast<double>(options.epochs))) break;
  }

  MeanField result = fit.result();
  const size_t count = bounds.size(), stride = std::max<size_t>(1, count / static_cast<size_t>(options.curve_points));
  for (size_t first = 0; first < count; first += stride) {
    const size_t last = std::min(first + stride, count);
    result.curve_epochs.push_back(static_cast<double>(last));
    result.curve.push_back(mean_of(bounds, first, last));
  }
  result.last_change =
      mean_of(bounds, count - count / 10, count) - mean_of(bounds, count - count / 5, count - count / 10);
  return result;
}

at::Tensor sample_outputs(const MeanField& fit, const at::Tensor& inputs, int64_t samples, uint64_t seed) {
  const at::NoGradGuard no_gradients;
  std::vector<Layer> layers;
  for (const MeanFieldLayer& layer : fit.layers)
    layers.push_back(
        {{layer.weight_mean, layer.weight_deviation.log(), {}}, {layer.bias_mean, layer.bias_deviation.log(), {}}});
  const at::Generator generator = random_stream({seed, kSampleStream});
  std::vector<at::Tensor> draws;
  for (int64_t i = 0; i < samples; ++i) draws.push_back(draw_outputs(inputs.to(at::kDouble), layers, generator));
  return at::stack(draws);
}

at::Tensor mean_field_probabilities(const MeanField& fit, const at::Tensor& inputs, int64_t samples, uint64_t seed) {
  return at::softmax(sample_outputs(fit, inputs, samples, seed), 2).mean(0);
}

}  // namespace ockham::paper
