#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/observe/observe_forward.h"

namespace ockham {
namespace {

constexpr uint64_t kVerifyStream = 0x7665726966790000;  // its own random stream

double tolerance_of(const at::Tensor& tensor) { return tensor.scalar_type() == at::kDouble ? 1e-8 : 2e-3; }

double largest(const at::Tensor& tensor) { return tensor.numel() == 0 ? 0 : tensor.abs().max().item<double>(); }

// The outputs of every second example alone must be what they are within the batch.
void refuse_mixed_examples(const Network& network, const at::Tensor& inputs, const at::Tensor& outputs) {
  at::NoGradGuard no_gradients;
  const int64_t examples = inputs.size(0);
  if (examples < 2) return;
  const at::Tensor some = at::arange(0, examples, 2);
  at::Tensor alone;
  try {
    alone = network.forward(inputs.index_select(0, some));
  } catch (const std::exception&) {
    return;  // a network for one batch size only cannot be asked
  }
  const at::Tensor within = outputs.detach().index_select(0, some);
  alone = alone.reshape_as(within);
  const double scale = std::max(largest(within), std::numeric_limits<float>::min() * 1.0);
  if (largest(alone - within) > 50 * tolerance_of(within) * scale) {
    throw Error(
        ErrorKind::data,
        "The network's output for an example changes with the other examples of its batch (or from call to call); the "
        "evidence needs independent examples. Put the network into evaluation mode (eval()) or remove the operation "
        "that mixes or randomises them.");
  }
}

struct Rebuilt {
  at::Tensor gradient;    // summed over the examples, [p]
  at::Tensor by_example;  // [N, ...], zero for examples that got no gradient
};

// A weight's gradient by one product over all rows: per-example gradients of a large layer would be many times its
// size.
Rebuilt rebuild(const LayerCall& call, const ParameterUse& use, const at::Tensor& output_gradient) {
  const auto* matrix = std::get_if<MatrixUse>(&use.how);
  if (matrix == nullptr) {
    const at::Tensor by_example = per_example_gradient(call, use, output_gradient);
    return {by_example.sum(0), by_example};
  }
  const at::Tensor gradients = gradient_rows(call, *matrix, output_gradient);  // [G, N, S, D]
  const at::Tensor by_example = gradients.transpose(0, 1);
  const at::Tensor inputs = input_rows(call, *matrix);
  if (matrix->kind == MatrixUse::Operator::embedding) {
    const at::Tensor rows = gradients.reshape({-1, gradients.size(3)});
    return {at::zeros({matrix->rows, rows.size(1)}, rows.options()).index_add_(0, inputs.reshape(-1), rows).reshape(-1),
            by_example};
  }
  const at::Tensor left = (matrix->gradient_left ? gradients : inputs).flatten(1, 2);
  const at::Tensor right = (matrix->gradient_left ? inputs : gradients).flatten(1, 2);
  return {at::bmm(left.transpose(1, 2), right).reshape(-1), by_example};
}

}  // namespace

std::vector<size_t> verify_calls(const Observation& observation, const Network& network, uint64_t seed) {
  refuse_mixed_examples(network, observation.inputs(), observation.outputs());
  const int64_t examples = observation.outputs().size(0);
  at::Tensor column = at::randn(observation.outputs().sizes(), random_stream({seed, kVerifyStream}),
                                observation.outputs().options().dtype(at::kDouble).requires_grad(false))
                          .to(observation.outputs().scalar_type());
  // Examples of a random half get no gradient: what reaches their rows comes from a wrong idea of which row is whose.
  at::Tensor kept = at::rand({examples}, random_stream({seed, kVerifyStream, 1}), at::kDouble) < 0.5;
  kept[0] = true;
  column = column * kept.unsqueeze(1);

  const size_t count = network.layout().count();
  std::vector<at::Tensor> rebuilt(count);
  std::vector<bool> leaked(count, false);
  const auto gradients = observation.backward(column);
  for (size_t c = 0; c < observation.calls().size(); ++c) {
    const LayerCall& call = observation.calls()[c];
    if (!gradients[c].defined()) continue;
    for (const ParameterUse& use : call.uses) {
      const Rebuilt part = rebuild(call, use, gradients[c]);
      if (largest(part.by_example.index({kept.logical_not()})) > 0) leaked[use.parameter] = true;
      at::Tensor& sum = rebuilt[use.parameter];
      sum = sum.defined() ? sum + part.gradient : part.gradient;
    }
  }

  std::vector<size_t> all(count), failed;
  for (size_t i = 0; i < count; ++i) all[i] = i;
  const auto truth = observation.parameter_gradients(column, all);
  const auto& unexplained = observation.unexplained_parameters();
  for (size_t i = 0; i < count; ++i) {
    if (std::binary_search(unexplained.begin(), unexplained.end(), i)) continue;
    const at::Tensor expected =
        truth[i].defined() ? truth[i].reshape(-1) : at::zeros({network.layout()[i].size}, column.options());
    const at::Tensor got = rebuilt[i].defined() ? rebuilt[i] : at::zeros_like(expected);
    const double scale = std::max(largest(expected), largest(got));
    if (leaked[i] || largest(got - expected) > tolerance_of(expected) * scale) failed.push_back(i);
  }
  return failed;
}

}  // namespace ockham
