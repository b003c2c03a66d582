#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/curvature/accumulate.h"
#include "ockham/curvature/example_gradients.h"

namespace ockham {
namespace {

constexpr int64_t kAdditionsInOwnType = 64;
constexpr int64_t kChunkElements = int64_t{1}
                                   << 22;  // of per-example gradients at once: 16 MB in float32, near the cache

/// The windows of a convolution whose squares need no gradient of an example in memory.
std::optional<WindowShape> windows_of(const BatchGradients& batch, size_t parameter) {
  const auto& uses = batch.uses(parameter);
  const auto* matrix = uses.size() == 1 ? std::get_if<MatrixUse>(&uses[0].use->how) : nullptr;
  if (matrix == nullptr) return std::nullopt;
  const LayerCall& call = batch.call(uses[0].call);
  if (!call.input.defined() || call.input.size(0) != call.examples) return std::nullopt;
  return window_shape(call, *matrix);
}

}  // namespace

at::Tensor& SafeSum::partial(at::IntArrayRef shape, const at::TensorOptions& like) {
  if (!partial_.defined()) partial_ = at::zeros(shape, like.requires_grad(false));
  return partial_;
}

void SafeSum::added() {
  if (++additions_ < kAdditionsInOwnType || partial_.scalar_type() == at::kDouble) return;
  total_ = total_.defined() ? total_.add_(partial_) : partial_.to(at::kDouble);
  partial_.zero_();
  additions_ = 0;
}

at::Tensor SafeSum::finish(at::IntArrayRef shape) const {
  if (!partial_.defined()) return at::zeros(shape, at::kDouble);
  const at::Tensor sum = partial_.to(at::kDouble);
  return total_.defined() ? sum + total_ : sum;
}

DiagonalAccumulator::DiagonalAccumulator(std::vector<size_t> parameters, std::vector<size_t> by_autograd,
                                         const ParameterLayout& layout, int64_t derivatives) {
  for (size_t index : parameters) {
    Parameter parameter;
    parameter.index = index;
    parameter.size = layout[index].size;
    parameter.by_autograd = std::find(by_autograd.begin(), by_autograd.end(), index) != by_autograd.end();
    parameter.derivatives.resize(derivatives);
    parameters_.push_back(std::move(parameter));
  }
}

void DiagonalAccumulator::find_biases(const BatchGradients& batch) {
  for (Parameter& weight : parameters_) {
    weight.bias.reset();
    weight.from_weight = false;
  }
  for (Parameter& weight : parameters_) {
    if (weight.by_autograd || !batch.has_product_rows(weight.index)) continue;
    for (size_t b = 0; b < parameters_.size() && !weight.bias; ++b) {
      const auto& uses = batch.uses(parameters_[b].index);
      if (parameters_[b].by_autograd || parameters_[b].from_weight || uses.size() != 1 ||
          uses[0].call != batch.uses(weight.index)[0].call || !std::holds_alternative<BiasUse>(uses[0].use->how))
        continue;
      weight.bias = b;
      parameters_[b].from_weight = true;
    }
  }
}

void DiagonalAccumulator::begin_batch(const BatchGradients& batch) {
  find_biases(batch);
  for (Parameter& parameter : parameters_) {
    parameter.squares.assign(1 + parameter.derivatives.size(), at::Tensor());
    if (parameter.by_autograd)
      add_by_autograd(parameter, batch);
    else if (parameter.derivatives.empty())
      parameter.windows = windows_of(batch, parameter.index);
  }
}

void DiagonalAccumulator::add_by_autograd(Parameter& parameter, const BatchGradients& batch) {
  const int64_t chunk = std::max<int64_t>(1, kChunkElements / (batch.columns() * parameter.size));
  for (int64_t first = 0; first < batch.examples(); first += chunk) {
    const int64_t count = std::min(chunk, batch.examples() - first);
    const auto rows_for = [&](const at::Tensor& columns) {
      return example_gradients(batch.network(), batch.inputs().narrow(0, first, count), columns.narrow(0, first, count),
                               {parameter.index})[0];
    };
    const at::Tensor rows = rows_for(batch.root().root);
    parameter.sum.partial({parameter.size}, rows.options()).add_(rows.square().flatten(0, 1).sum(0));
    parameter.sum.added();
    for (size_t d = 0; d < parameter.derivatives.size(); ++d) {
      const at::Tensor moved = rows_for(batch.root().derivatives[d]);
      parameter.derivatives[d].partial({parameter.size}, rows.options()).add_((rows * moved).flatten(0, 1).sum(0), 2);
      parameter.derivatives[d].added();
    }
  }
}

std::vector<BatchGradients::Part> DiagonalAccumulator::parts() const {
  std::vector<BatchGradients::Part> each;
  for (const Parameter& parameter : parameters_) each.push_back({parameter.index});
  return each;
}

void DiagonalAccumulator::add_column(const BatchGradients& batch, size_t part) {
  Parameter& parameter = parameters_[part];
  if (parameter.by_autograd || parameter.from_weight) return;
  if (batch.has_product_rows(parameter.index))
    add_products(parameter, batch);
  else if (parameter.windows)
    add_windows(parameter, batch);
  else
    add_per_example(parameter, batch);
  if (batch.column() + 1 == batch.columns()) finish_batch(parameter, batch);
}

void DiagonalAccumulator::add_products(Parameter& parameter, const BatchGradients& batch) {
  const size_t call = batch.uses(parameter.index)[0].call;
  const at::Tensor& gradient = batch.output_gradient(call);
  if (!gradient.defined()) return;
  for (size_t d = 0; d < parameter.squares.size(); ++d) {
    at::Tensor& sum = parameter.squares[d];
    const at::Tensor& other = d == 0 ? gradient : batch.output_gradient(call, static_cast<int64_t>(d) - 1);
    if (!other.defined()) continue;
    if (sum.defined())
      sum.addcmul_(gradient, other);
    else
      sum = gradient * other;
  }
}

void DiagonalAccumulator::add_windows(Parameter& parameter, const BatchGradients& batch) {
  const size_t call = batch.uses(parameter.index)[0].call;
  const at::Tensor& gradient = batch.output_gradient(call);
  if (!gradient.defined()) return;
  const int64_t outputs = gradient.size(1);
  add_squared_gradients(parameter.sum.partial({outputs, parameter.size / outputs}, gradient.options()), gradient,
                        batch.call(call).input, *parameter.windows);
  parameter.sum.added();
}

void DiagonalAccumulator::add_per_example(Parameter& parameter, const BatchGradients& batch) {
  const int64_t chunk = std::max<int64_t>(1, kChunkElements / parameter.size);
  for (int64_t first = 0; first < batch.examples(); first += chunk) {
    const int64_t count = std::min(chunk, batch.examples() - first);
    const at::Tensor rows = batch.per_example(parameter.index, -1, first, count);
    parameter.sum.partial({parameter.size}, rows.options()).add_(rows.square().sum(0));
    for (size_t d = 0; d < parameter.derivatives.size(); ++d) {
      const at::Tensor moved = batch.per_example(parameter.index, static_cast<int64_t>(d), first, count);
      parameter.derivatives[d].partial({parameter.size}, rows.options()).add_((rows * moved).sum(0), 2);
    }
  }
  parameter.sum.added();
  for (SafeSum& derivative : parameter.derivatives) derivative.added();
}

void DiagonalAccumulator::finish_batch(Parameter& parameter, const BatchGradients& batch) {
  if (!parameter.squares[0].defined()) return;
  const UseInBatch& use = batch.uses(parameter.index)[0];
  const at::Tensor inputs = batch.call(use.call).input.square();
  const bool gradient_left = std::get<MatrixUse>(use.use->how).gradient_left;
  for (size_t d = 0; d < parameter.squares.size(); ++d) {
    if (!parameter.squares[d].defined()) continue;
    SafeSum& sum = d == 0 ? parameter.sum : parameter.derivatives[d - 1];
    const at::Tensor& left = gradient_left ? parameter.squares[d] : inputs;
    const at::Tensor& right = gradient_left ? inputs : parameter.squares[d];
    sum.partial({left.size(1), right.size(1)}, left.options()).addmm_(left.t(), right, 1, d == 0 ? 1 : 2);
    sum.added();
    if (parameter.bias) {
      Parameter& bias = parameters_[*parameter.bias];
      SafeSum& bias_sum = d == 0 ? bias.sum : bias.derivatives[d - 1];
      bias_sum.partial({bias.size}, left.options()).add_(parameter.squares[d].sum(0), d == 0 ? 1 : 2);
      bias_sum.added();
    }
    parameter.squares[d].reset();
  }
}

at::Tensor DiagonalAccumulator::in_weight_order(const Parameter& parameter) {
  const at::Tensor sum = parameter.sum.finish({parameter.size});
  if (!parameter.windows || sum.dim() != 2) return sum;
  const int64_t height = parameter.windows->kernel_height, width = parameter.windows->kernel_width;
  return sum.view({sum.size(0), height, width, -1}).permute({0, 3, 1, 2});
}

CurvatureBlock DiagonalAccumulator::finish(int64_t) {
  DiagonalBlock block;
  std::vector<at::Tensor> diagonals;
  std::vector<std::vector<at::Tensor>> derivatives(parameters_.empty() ? 0 : parameters_[0].derivatives.size());
  for (const Parameter& parameter : parameters_) {
    block.parameters.push_back(parameter.index);
    diagonals.push_back(in_weight_order(parameter).reshape(-1));
    for (size_t d = 0; d < derivatives.size(); ++d) {
      derivatives[d].push_back(parameter.derivatives[d].finish({parameter.size}).reshape(-1));
    }
  }
  block.diagonal = diagonals.size() == 1 ? diagonals[0] : at::cat(diagonals);
  for (const auto& parts : derivatives) block.derivatives.push_back(at::cat(parts));
  return block;
}

}  // namespace ockham
