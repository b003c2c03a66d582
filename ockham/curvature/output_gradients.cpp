#include "ockham/curvature/output_gradients.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/curvature/example_gradients.h"

namespace ockham {
namespace {

const MatrixUse* matrix_of(const ParameterUse& use) { return std::get_if<MatrixUse>(&use.how); }

const MatrixUse* matrix_of(const LayerCall& call) {
  for (const ParameterUse& use : call.uses)
    if (const MatrixUse* matrix = matrix_of(use)) return matrix;
  return nullptr;
}

/// The rows of some examples; positions folded into the batch dimension go with their example.
at::Tensor narrow_examples(const LayerCall& call, const at::Tensor& tensor, int64_t first, int64_t count) {
  if (count == call.examples) return tensor;
  const int64_t fold = tensor.size(call.batch_dimension) / call.examples;
  return tensor.narrow(call.batch_dimension, first * fold, count * fold);
}

/// True when the outputs are what this call computes, so that the gradient of output c at it is the c-th unit vector.
bool gives_the_outputs(const Network& network, const LayerCall& call, const at::Tensor& outputs) {
  const MatrixUse* matrix = matrix_of(call);
  if (matrix == nullptr || matrix->kind != MatrixUse::Operator::linear || call.input.dim() != 2 ||
      call.input.size(0) != outputs.size(0) || call.output_shape != outputs.sizes().vec())
    return false;
  const at::NoGradGuard no_gradients;
  at::Tensor expected = at::zeros_like(outputs);
  for (const ParameterUse& use : call.uses) {
    const at::Tensor& parameter = network.parameters()[use.parameter];
    if (matrix_of(use) == nullptr) {
      expected += parameter;
    } else {
      const at::Tensor weight = parameter.reshape(matrix->gradient_left ? std::vector<int64_t>{outputs.size(1), -1}
                                                                        : std::vector<int64_t>{-1, outputs.size(1)});
      expected += call.input.matmul(matrix->gradient_left ? weight.t() : weight);
    }
  }
  const double tolerance = outputs.scalar_type() == at::kDouble ? 1e-10 : 1e-4;
  return (expected - outputs).abs().max().item<double>() <= tolerance * (1e-30 + outputs.abs().max().item<double>());
}

}  // namespace

OutputGradients::OutputGradients(const Network& network, const Observation& observation, Options options)
    : network_(network),
      observation_(observation),
      options_(std::move(options)),
      outputs_(observation.outputs().detach()),
      wanted_(network.layout().count(), options_.parameters.empty()),
      uses_(network.layout().count()),
      gradients_(observation.calls().size()),
      rows_(network.layout().count()) {
  for (size_t parameter : options_.parameters) wanted_[parameter] = true;
  for (size_t c = 0; c < observation.calls().size(); ++c) {
    for (const ParameterUse& use : observation.calls()[c].uses)
      if (wanted_[use.parameter]) uses_[use.parameter].push_back({c, &use});
  }
  std::vector<size_t> by_autograd;
  for (size_t parameter : observation.unexplained_parameters())
    if (wanted_[parameter]) by_autograd.push_back(parameter);
  if (!by_autograd.empty()) {
    const at::Tensor columns = at::eye(outputs(), outputs_.options()).expand({examples(), -1, -1});
    const auto rows = example_gradients(network, observation.inputs(), columns, by_autograd);
    for (size_t i = 0; i < by_autograd.size(); ++i) rows_[by_autograd[i]] = rows[i];
  }
  back_propagate();
}

void OutputGradients::back_propagate() {
  std::vector<size_t> calls;
  for (const auto& uses : uses_)
    for (const Use& use : uses) calls.push_back(use.call);
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  if (calls.empty()) return;
  const bool at_the_outputs =
      calls.size() == 1 && gives_the_outputs(network_, observation_.calls()[calls[0]], outputs_);
  for (int64_t c = 0; c < outputs(); ++c) {
    at::Tensor column = at::zeros_like(outputs_);
    column.select(1, c).fill_(1);
    std::vector<at::Tensor> at_calls(gradients_.size());
    if (at_the_outputs)
      at_calls[calls[0]] = column;
    else
      at_calls = observation_.backward(column);
    for (size_t call : calls) {
      // Weights keep the gradient at their output; what belongs to other parameters is small and made now.
      const LayerCall& layer = observation_.calls()[call];
      if (matrix_of(layer) != nullptr) gradients_[call].push_back(at_calls[call]);
      if (!at_calls[call].defined()) continue;
      for (const ParameterUse& use : layer.uses) {
        if (!wanted_[use.parameter] || matrix_of(use) != nullptr) continue;
        at::Tensor& rows = rows_[use.parameter];
        if (!rows.defined())
          rows = at::zeros({examples(), outputs(), network_.layout()[use.parameter].size}, outputs_.options());
        rows.select(1, c).add_(per_example_gradient(layer, use, at_calls[call]));
      }
    }
  }
}

at::Tensor OutputGradients::jacobian(size_t parameter, int64_t first, int64_t count) const {
  if (rows_[parameter].defined()) return rows_[parameter].narrow(0, first, count).to(options_.type);
  at::Tensor result = at::zeros({count, outputs(), network_.layout()[parameter].size}, options_.type);
  for (const Use& use : uses_[parameter]) {
    for (int64_t c = 0; c < outputs(); ++c) {
      const auto& by_column = gradients_[use.call];
      if (by_column.empty() || !by_column[c].defined()) continue;
      result.select(1, c).add_(
          per_example_gradient(observation_.calls()[use.call], *use.use, by_column[c], first, count));
    }
  }
  return result;
}

bool OutputGradients::has_products(size_t parameter) const {
  const auto& uses = uses_[parameter];
  if (uses.empty() || rows_[parameter].defined()) return false;
  const MatrixUse* pattern = matrix_of(*uses[0].use);
  return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    const MatrixUse* matrix = matrix_of(*use.use);
    return matrix != nullptr && matrix->kind != MatrixUse::Operator::embedding &&
           matrix->gradient_left == pattern->gradient_left && matrix->groups == pattern->groups;
  });
}

OutputGradients::Products OutputGradients::products(size_t parameter, int64_t first, int64_t count) const {
  Products result;
  std::vector<at::Tensor> gradients, inputs;
  for (const Use& use : uses_[parameter]) {
    const LayerCall& call = observation_.calls()[use.call];
    const MatrixUse& matrix = *matrix_of(*use.use);
    result.gradient_left = matrix.gradient_left;
    LayerCall some = call;
    some.examples = count;
    some.input = narrow_examples(call, call.input, first, count);
    inputs.push_back(input_rows(some, matrix).to(options_.type));
    std::vector<at::Tensor> columns;  // [groups, count, dg, S] each
    for (const at::Tensor& gradient : gradients_[use.call]) {
      if (!gradient.defined()) {
        columns.emplace_back();
        continue;
      }
      columns.push_back(gradient_rows(some, matrix, narrow_examples(call, gradient, first, count)).transpose(2, 3));
    }
    const auto known = std::find_if(columns.begin(), columns.end(), [](const at::Tensor& t) { return t.defined(); });
    if (known == columns.end()) {
      inputs.pop_back();
      continue;
    }
    const at::Tensor zero = at::zeros_like(*known);
    for (at::Tensor& column : columns)
      if (!column.defined()) column = zero;
    gradients.push_back(at::stack(columns, 2).to(options_.type));
  }
  if (gradients.empty()) return result;
  result.gradients = gradients.size() == 1 ? gradients[0] : at::cat(gradients, 4);
  result.inputs = inputs.size() == 1 ? inputs[0] : at::cat(inputs, 2);
  return result;
}

std::optional<LastLayer> find_last_layer(const Observation& observation) {
  for (size_t c = observation.calls().size(); c-- > 0;) {
    const LayerCall& call = observation.calls()[c];
    const MatrixUse* matrix = matrix_of(call);
    if (matrix == nullptr || matrix->kind != MatrixUse::Operator::linear) continue;
    LastLayer last;
    last.call = c;
    for (const ParameterUse& use : call.uses) last.parameters.push_back(use.parameter);
    std::sort(last.parameters.begin(), last.parameters.end());
    return last;
  }
  return std::nullopt;
}

int64_t output_gradient_bytes(const Network& network, const Observation& sample,
                              const std::vector<size_t>& parameters) {
  const auto wanted = [&](size_t parameter) {
    return parameters.empty() || std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
  };
  const int64_t outputs = sample.outputs().size(1), examples = sample.outputs().size(0);
  int64_t activations = 0, kept = outputs;
  for (const LayerCall& call : sample.calls()) {
    int64_t size = 1;
    for (int64_t side : call.output_shape) size *= side;
    size /= examples;
    activations += size;
    bool weight = false;
    for (const ParameterUse& use : call.uses) {
      if (!wanted(use.parameter)) continue;
      if (matrix_of(use) != nullptr)
        weight = true;
      else
        kept += network.layout()[use.parameter].size;
    }
    if (weight) kept += size;
  }
  for (size_t parameter : sample.unexplained_parameters())
    if (wanted(parameter)) kept += network.layout()[parameter].size;
  // Autograd keeps inputs and outputs of a layer and of what is between layers.
  constexpr int64_t copies_in_graph = 6;
  const int64_t element = sample.outputs().scalar_type() == at::kDouble ? 8 : 4;
  return element * (outputs * kept + copies_in_graph * activations + sample.inputs().numel() / examples);
}

}  // namespace ockham
