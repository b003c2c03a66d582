#include "ockham/train/map_epoch.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/distributed/communicator.h"
#include "ockham/observe/plain_mlp.h"

namespace ockham {
namespace {

constexpr uint64_t kAugmentStream = 0x6175676d656e7400;

at::Tensor forward(const Network& network, const at::Tensor& inputs) {
  const at::Tensor outputs = network.forward(inputs.is_floating_point() ? inputs.to(network.dtype()) : inputs);
  return outputs.dim() == 1 ? outputs.unsqueeze(1) : outputs;
}

constexpr int64_t kFewWeights = 1 << 15;  // an operator takes longer to start than a loop over these takes

double squared_norm(const at::Tensor& parameter) {
  const at::Tensor theta = parameter.detach().reshape(-1);
  if (theta.numel() > kFewWeights) return at::dot(theta, theta).item<double>();
  return AT_DISPATCH_FLOATING_TYPES(theta.scalar_type(), "squared_norm", [&] {
    const scalar_t* values = theta.data_ptr<scalar_t>();
    double sum = 0;
    for (int64_t i = 0; i < theta.numel(); ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    return sum;
  });
}

bool is_finite(const at::Tensor& values) {
  if (values.numel() > kFewWeights || !values.is_contiguous()) {
    // A sum is the cheaper question, and overflow alone is no answer.
    return std::isfinite(values.sum().item<double>()) || values.isfinite().all().item<bool>();
  }
  return AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "is_finite", [&] {
    const scalar_t* first = values.data_ptr<scalar_t>();
    scalar_t zeros[4] = {0, 0, 0, 0};  // x - x is 0 or NaN; four sums do not wait for each other
    for (int64_t i = 0; i < values.numel(); ++i) zeros[i % 4] += first[i] - first[i];
    return zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0;
  });
}

/// Before the step, so that the weights are still those of the batch before.
void expect_finite(const Model& model, double loss, int64_t batch, int64_t batches) {
  const auto where = [&] {
    return batches == 1 ? std::string() : fmt::format(" in batch {} of {}", batch + 1, batches);
  };
  if (!std::isfinite(loss))
    throw Error(ErrorKind::numerical,
                fmt::format("the loss is not finite{}; use a smaller learning rate (--lr)", where()));
  for (size_t i = 0; i < model.network.parameters().size(); ++i) {
    if (is_finite(model.network.parameters()[i].grad())) continue;
    throw Error(
        ErrorKind::numerical,
        fmt::format("the gradient of '{}' is not finite{}; use a smaller learning rate (--lr), or --dtype float64",
                    model.network.layout()[i].name, where()));
  }
}

// gradient += scale · δ θ, without a vector of P precisions where a parameter has one. Returns ½ Σ δ θ².
double add_prior_gradient(const Model& model, const at::Tensor& precisions, double scale) {
  at::NoGradGuard no_gradients;
  double energy = 0;
  for (size_t i = 0; i < model.network.parameters().size(); ++i) {
    const at::Tensor& parameter = model.network.parameters()[i];
    at::Tensor& gradient = parameter.mutable_grad();
    if (!gradient.defined()) gradient = at::zeros_like(parameter);
    const PriorSlot& slot = model.prior.slot(i);
    if (slot.pattern == PriorSlot::Pattern::uniform) {
      const double precision = precisions.data_ptr<double>()[slot.first];
      gradient.add_(parameter, scale * precision);
      energy += 0.5 * precision * squared_norm(parameter);
    } else {
      const at::Tensor by_weight = model.prior.expand(i, precisions);
      gradient.addcmul_(parameter, by_weight.to(parameter.scalar_type()).view_as(parameter), scale);
      energy += 0.5 * at::dot(by_weight, parameter.reshape(-1).to(at::kDouble).square()).item<double>();
    }
  }
  return energy;
}

// A plain step of SGD diverges in a group that the evidence has all but switched off, where the curvature scale · δ of
// the prior is beyond that of any likelihood. There gradient /= max(1, rate · scale · δ): the step goes at most to the
// prior's mode, and all ends at the same optimum. Elsewhere a rate that is too high is to be seen.
void limit_prior_step(const Model& model, const at::Tensor& precisions, double scale, double rate) {
  if (rate == 0) return;
  const at::Tensor curvatures = scale * precisions;
  if (rate * curvatures.max().item<double>() <= 1) return;
  const at::Tensor divisors = at::where(curvatures > 1, (rate * curvatures).clamp_min(1), at::ones_like(curvatures));
  for (size_t i = 0; i < model.network.parameters().size(); ++i) {
    at::Tensor& gradient = model.network.parameters()[i].mutable_grad();
    const PriorSlot& slot = model.prior.slot(i);
    if (slot.pattern == PriorSlot::Pattern::uniform)
      gradient.div_(divisors.data_ptr<double>()[slot.first]);
    else
      gradient.div_(model.prior.expand(i, divisors).to(gradient.scalar_type()).view_as(gradient));
  }
}

bool has_one_noise(const Likelihood& likelihood) {
  const auto* gaussian = std::get_if<Gaussian>(&likelihood);
  return gaussian != nullptr && !gaussian->noise_per_output;
}

struct BatchLoss {
  double value = 0;     // Σ -log p over the batch, without the Gaussian's constants
  int64_t outputs = 0;  // C
};

// Back-propagates scale(C) · Σ -log p of the batch into the parameters' gradients. The gradient enters at the outputs,
// where every likelihood has it in closed form.
template <class Scale>
BatchLoss backward_likelihood(const Model& model, const Batch& batch, const Scale& scale) {
  PlainMlp* by_hand = HandmadePasses::of(model.network);
  const at::AutoGradMode with_gradients(by_hand == nullptr);
  const at::Tensor outputs = by_hand != nullptr ? by_hand->forward(batch.inputs) : forward(model.network, batch.inputs);
  const at::Tensor values = outputs.detach();
  const double unit_noise = gradient_scale(model.likelihood, model.hyperparameters);
  const at::Tensor residual = output_gradient(model.likelihood, values, batch.targets, model.hyperparameters);
  const double value = has_one_noise(model.likelihood)
                           ? 0.5 * unit_noise * residual.square().sum().item<double>()
                           : -log_likelihood(model.likelihood, values, batch.targets, model.hyperparameters);
  const at::Tensor column = residual * (unit_noise * scale(outputs.size(1)));
  if (by_hand != nullptr) {
    by_hand->backward(column);
    by_hand->add_parameter_gradients();
  } else {
    outputs.backward(column);
  }
  return {value, outputs.size(1)};
}

/// This rank's rows of a batch. One of a batch with fewer rows than ranks may have none: it passes one that counts
/// nothing, which tells it the number of outputs.
struct Share {
  Batch batch;
  double weight = 1;
};

Share share_of(const Batch& batch, Communicator* communicator) {
  if (communicator == nullptr) return {batch, 1};
  const Range rows = part_of(batch.inputs.size(0), communicator->part());
  const int64_t count = std::max<int64_t>(1, rows.length), first = rows.length > 0 ? rows.first : 0;
  return {{batch.inputs.narrow(0, first, count), batch.targets.narrow(0, first, count), batch.first + first},
          rows.length > 0 ? 1.0 : 0.0};
}

/// Sums the gradients and the loss over the ranks, as one buffer. True when a rank wants to stop.
bool sum_over_ranks(const Model& model, BatchLoss& loss, bool stop, Communicator& communicator) {
  const at::NoGradGuard no_gradients;
  std::vector<at::Tensor> parts;
  for (const at::Tensor& parameter : model.network.parameters()) {
    const at::Tensor& gradient = parameter.grad();
    parts.push_back(gradient.defined() ? gradient.reshape(-1) : at::zeros({parameter.numel()}, parameter.options()));
  }
  parts.push_back(at::tensor({loss.value, stop ? 1.0 : 0.0}, parts.front().options()));
  at::Tensor flat = at::cat(parts);
  communicator.all_reduce_sum(flat);
  int64_t first = 0;
  for (const at::Tensor& parameter : model.network.parameters()) {
    at::Tensor& gradient = parameter.mutable_grad();
    if (!gradient.defined()) gradient = at::empty_like(parameter);
    gradient.copy_(flat.narrow(0, first, parameter.numel()).view_as(parameter));
    first += parameter.numel();
  }
  loss.value = flat[first].item<double>();
  return flat[first + 1].item<double>() > 0;
}

}  // namespace

double map_loss_scale(const Likelihood& likelihood, const Hyperparameters& hyperparameters, int64_t examples,
                      int64_t outputs) {
  if (!has_one_noise(likelihood)) return 1.0 / static_cast<double>(examples);
  return 2 / gradient_scale(likelihood, hyperparameters) / static_cast<double>(examples * outputs);
}

double map_epoch(const Model& model, const Dataset& data, const MapOptions& options, Optimiser& optimiser,
                 at::Generator order) {
  const int64_t examples = data.size();
  const int64_t batch_size = options.batch_size > 0 ? std::min(options.batch_size, examples) : examples;
  const bool shuffle = options.shuffle && batch_size < examples;
  const at::Tensor shuffled = shuffle ? at::randperm(examples, order, at::kLong) : at::Tensor();
  at::Generator changes;
  if (options.augment.any()) changes = random_stream({order.current_seed(), kAugmentStream});
  const at::Tensor precisions = model.hyperparameters.log_prior_precision.exp();
  double total = 0;
  int64_t batches = 0;
  for (int64_t first = 0; first < examples; first += batch_size, ++batches) {
    Batch batch = data.slice(first, batch_size);
    if (shuffle) {
      const at::Tensor rows = shuffled.narrow(0, first, batch.inputs.size(0));
      batch = {data.inputs().index_select(0, rows), data.targets().index_select(0, rows), first};
    }
    if (options.augment.any()) batch.inputs = augment(batch.inputs, options.augment, changes);
    const double weight =
        options.likelihood_weight * static_cast<double>(examples) / static_cast<double>(batch.inputs.size(0));
    const auto scale = [&](int64_t outputs) {
      return map_loss_scale(model.likelihood, model.hyperparameters, examples, outputs) / options.likelihood_weight;
    };
    optimiser.zero_gradients();
    const Share share = share_of(batch, options.communicator);
    BatchLoss loss = backward_likelihood(model, share.batch,
                                         [&](int64_t outputs) { return share.weight * weight * scale(outputs); });
    loss.value *= share.weight;
    if (options.communicator != nullptr &&
        sum_over_ranks(model, loss, options.stop && options.stop(), *options.communicator))
      throw TrainingStopped();
    const double prior_energy = add_prior_gradient(model, precisions, scale(loss.outputs));
    const double batch_loss = scale(loss.outputs) * (weight * loss.value + prior_energy);
    expect_finite(model, batch_loss, batches, (examples + batch_size - 1) / batch_size);
    total += batch_loss;
    limit_prior_step(model, precisions, scale(loss.outputs), optimiser.step_per_gradient());
    optimiser.step();
    if (options.progress) options.progress(first + batch.inputs.size(0));
  }
  return total / static_cast<double>(batches);
}

double map_gradient_norm(const Model& model, const Dataset& data, const MapOptions& options) {
  for (const at::Tensor& parameter : model.network.parameters()) parameter.mutable_grad().reset();
  const int64_t batch_size = options.batch_size > 0 ? options.batch_size : data.size();
  for (int64_t first = 0; first < data.size(); first += batch_size) {
    backward_likelihood(model, data.slice(first, batch_size), [&](int64_t) { return options.likelihood_weight; });
  }
  add_prior_gradient(model, model.hyperparameters.log_prior_precision.exp(), 1);
  double squared = 0;
  for (const at::Tensor& parameter : model.network.parameters()) {
    squared += parameter.grad().to(at::kDouble).square().sum().item<double>();
    parameter.mutable_grad().reset();
  }
  return std::sqrt(squared);
}

}  // namespace ockham
