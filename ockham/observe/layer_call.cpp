#include "ockham/observe/layer_call.h"

#include <ATen/ATen.h>

namespace ockham {
namespace {

// [M, C, spatial...] to windows [M, S, C·K] in the order in which a convolution's weight is flattened, [C][k1]...[kd].
at::Tensor unfold_windows(at::Tensor x, const MatrixUse& use) {
  const size_t dimensions = use.kernel.size();
  std::vector<int64_t> pad;
  for (size_t d = dimensions; d-- > 0;) pad.insert(pad.end(), {use.padding[d], use.padding[d]});
  if (std::any_of(pad.begin(), pad.end(), [](int64_t p) { return p != 0; })) x = at::constant_pad_nd(x, pad, 0);
  std::vector<int64_t> sizes = {x.size(0)}, strides = {x.stride(0)};
  int64_t positions = 1, taps = 1;
  for (size_t d = 0; d < dimensions; ++d) {
    const int64_t extent = use.dilation[d] * (use.kernel[d] - 1) + 1;
    sizes.push_back((x.size(2 + d) - extent) / use.stride[d] + 1);
    strides.push_back(x.stride(2 + d) * use.stride[d]);
    positions *= sizes.back();
  }
  sizes.push_back(x.size(1));
  strides.push_back(x.stride(1));
  for (size_t d = 0; d < dimensions; ++d) {
    sizes.push_back(use.kernel[d]);
    strides.push_back(x.stride(2 + d) * use.dilation[d]);
    taps *= use.kernel[d];
  }
  return x.as_strided(sizes, strides).reshape({x.size(0), positions, x.size(1) * taps});
}

// [M, S, D] rows to [G, N, S·M/N, D/G]: the feature dimension is split into groups, folded positions are unfolded.
at::Tensor split_rows(const at::Tensor& rows, int64_t examples, int64_t groups) {
  const at::Tensor by_example = rows.reshape({examples, -1, rows.size(2)});
  if (groups == 1) return by_example.unsqueeze(0);
  return by_example.reshape({examples, by_example.size(1), groups, -1}).permute({2, 0, 1, 3});
}

// [N, ..., D] (or [S, N, D]) to [N, S, D].
at::Tensor rows_of_features(const LayerCall& call, const at::Tensor& x) {
  const at::Tensor batch_first = call.batch_dimension == 0 ? x : x.transpose(0, call.batch_dimension);
  return batch_first.reshape({call.examples, -1, x.size(-1)});
}

// [M, C, spatial...] to [M, S, C].
at::Tensor rows_of_channels(const at::Tensor& x) { return x.flatten(2).transpose(1, 2); }

bool is_convolution(const MatrixUse& use) {
  return use.kind == MatrixUse::Operator::convolution || use.kind == MatrixUse::Operator::transposed_convolution;
}

const MatrixUse* matrix_use(const LayerCall& call) {
  for (const ParameterUse& use : call.uses) {
    if (const auto* matrix = std::get_if<MatrixUse>(&use.how)) return matrix;
  }
  return nullptr;
}

}  // namespace

at::Tensor input_rows(const LayerCall& call, const MatrixUse& use) {
  switch (use.kind) {
    case MatrixUse::Operator::linear:
      return rows_of_features(call, call.input).unsqueeze(0);
    case MatrixUse::Operator::convolution:
      return split_rows(unfold_windows(call.input, use), call.examples, use.groups);
    case MatrixUse::Operator::transposed_convolution:
      return split_rows(rows_of_channels(call.input), call.examples, use.groups);
    case MatrixUse::Operator::embedding:
      break;
  }
  const at::Tensor indices = call.batch_dimension == 0 ? call.input : call.input.transpose(0, call.batch_dimension);
  return indices.reshape({call.examples, -1});
}

at::Tensor gradient_rows(const LayerCall& call, const MatrixUse& use, const at::Tensor& output_gradient) {
  switch (use.kind) {
    case MatrixUse::Operator::convolution:
      return split_rows(rows_of_channels(output_gradient), call.examples, use.groups);
    case MatrixUse::Operator::transposed_convolution:
      return split_rows(unfold_windows(output_gradient, use), call.examples, use.groups);
    case MatrixUse::Operator::linear:
      break;
    case MatrixUse::Operator::embedding: {
      at::Tensor rows = rows_of_features(call, output_gradient);
      if (use.padding_index >= 0) rows = rows * (input_rows(call, use) != use.padding_index).unsqueeze(2);
      return rows.unsqueeze(0);
    }
  }
  return rows_of_features(call, output_gradient).unsqueeze(0);
}

std::optional<WindowShape> window_shape(const LayerCall& call, const MatrixUse& use) {
  if (use.kind != MatrixUse::Operator::convolution || use.kernel.size() != 2 || use.groups != 1 || use.kernel[0] < 2 ||
      use.dilation[0] != 1 || call.input.dim() != 4)
    return std::nullopt;
  const WindowShape shape{use.kernel[0], use.kernel[1],   use.padding[0], use.padding[1],
                          use.stride[1], use.dilation[1], use.stride[0]};
  if (shape.out_height(call.input) < use.kernel[0]) return std::nullopt;
  return shape;
}

at::Tensor bias_rows(const LayerCall& call, const at::Tensor& output_gradient) {
  // A frozen weight leaves a bias alone in its call: the shape of the gradient then tells channels from features.
  const MatrixUse* use = matrix_use(call);
  const bool channels = use != nullptr ? is_convolution(*use) : call.operator_name.find("conv") != std::string::npos;
  if (!channels) return rows_of_features(call, output_gradient);
  const at::Tensor rows = rows_of_channels(output_gradient);
  return rows.reshape({call.examples, -1, rows.size(2)});
}

at::Tensor elementwise_gradient(const LayerCall& call, const ElementwiseUse& use, const at::Tensor& output_gradient) {
  at::Tensor by_position = use.factor.defined() ? output_gradient * use.factor : output_gradient;
  std::vector<int64_t> shape = use.aligned_shape;
  if (call.batch_dimension != 0) {
    by_position = by_position.transpose(0, call.batch_dimension);
    std::swap(shape[0], shape[call.batch_dimension]);
  }
  if (by_position.size(0) != call.examples) {  // positions folded into the batch dimension
    std::vector<int64_t> unfolded = by_position.sizes().vec();
    unfolded[0] /= call.examples;
    unfolded.insert(unfolded.begin(), call.examples);
    by_position = by_position.reshape(unfolded);
    shape.insert(shape.begin(), 1);
  }
  std::vector<int64_t> broadcast;
  for (size_t d = 1; d < shape.size(); ++d) {
    if (shape[d] == 1) broadcast.push_back(static_cast<int64_t>(d));
  }
  if (!broadcast.empty()) by_position = by_position.sum(broadcast);
  const at::Tensor flat = by_position.reshape({call.examples, -1});
  return use.multiplier == 1 ? flat : flat * use.multiplier;
}

at::Tensor per_example_gradient(const LayerCall& call, const ParameterUse& use, const at::Tensor& output_gradient) {
  if (const auto* elementwise = std::get_if<ElementwiseUse>(&use.how)) {
    return elementwise_gradient(call, *elementwise, output_gradient);
  }
  if (std::holds_alternative<BiasUse>(use.how)) return bias_rows(call, output_gradient).sum(1);
  const auto& matrix = std::get<MatrixUse>(use.how);
  const at::Tensor gradients = gradient_rows(call, matrix, output_gradient);
  const int64_t examples = call.examples;
  if (matrix.kind == MatrixUse::Operator::embedding) {
    const at::Tensor indices = input_rows(call, matrix);  // [N, S]
    at::Tensor sum = at::zeros({examples, matrix.rows, gradients.size(3)}, gradients.options());
    sum.scatter_add_(1, indices.unsqueeze(2).expand({-1, -1, gradients.size(3)}), gradients[0]);
    return sum.reshape({examples, -1});
  }
  const at::Tensor inputs = input_rows(call, matrix);
  const at::Tensor& left = matrix.gradient_left ? gradients : inputs;
  const at::Tensor& right = matrix.gradient_left ? inputs : gradients;
  // [G, N, D0, S] × [G, N, S, D1], then groups to the front of the first dimension. One position needs no sum, and is
  // several times faster without a batched product.
  const at::Tensor columns = left.transpose(2, 3);
  const at::Tensor products = left.size(2) == 1 ? columns * right : at::matmul(columns, right);
  return products.transpose(0, 1).reshape({examples, -1});
}

at::Tensor per_example_gradient(const LayerCall& call, const ParameterUse& use, const at::Tensor& output_gradient,
                                int64_t first, int64_t count) {
  // Positions folded into the batch dimension go with their example.
  const auto part = [&](const at::Tensor& tensor) {
    const int64_t fold = tensor.size(call.batch_dimension) / call.examples;
    return tensor.narrow(call.batch_dimension, first * fold, count * fold);
  };
  LayerCall some = call;
  some.examples = count;
  if (call.input.defined()) some.input = part(call.input);
  ParameterUse some_use = use;
  if (auto* elementwise = std::get_if<ElementwiseUse>(&some_use.how)) {
    at::Tensor& factor = elementwise->factor;
    if (factor.defined() && factor.dim() == output_gradient.dim() && factor.size(call.batch_dimension) != 1)
      factor = part(factor);
  }
  return per_example_gradient(some, some_use, part(output_gradient));
}

}  // namespace ockham
