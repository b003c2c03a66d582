#include <ATen/ops/group_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "ockham/observe/recognise.h"

namespace ockham {
namespace {

std::vector<int64_t> aligned_shape(c10::IntArrayRef shape, size_t rank) {
  std::vector<int64_t> aligned(rank - shape.size(), 1);
  aligned.insert(aligned.end(), shape.begin(), shape.end());
  return aligned;
}

// x W (without bias) followed by + b is a linear layer: the bias joins that call, so that it gets the linear layer's
// rules.
bool join_as_bias(RecogniseContext& context, size_t operand, size_t parameter, const std::vector<int64_t>& aligned) {
  const bool along_last = std::all_of(aligned.begin(), aligned.end() - 1, [](int64_t size) { return size == 1; }) &&
                          aligned.back() == context.record.output_shape.back();
  const torch::autograd::Edge& edge = context.record.argument_edges[operand];
  if (!along_last || !edge.is_valid()) return false;
  for (RecognisedCall& earlier : context.earlier) {
    if (earlier.output_edge == edge && earlier.call.uses.size() == 1 && earlier.call.input.defined() &&
        earlier.call.output_shape == context.record.output_shape) {
      const auto* use = std::get_if<MatrixUse>(&earlier.call.uses[0].how);
      if (use != nullptr && use->kind == MatrixUse::Operator::linear) {
        earlier.call.uses.push_back({parameter, BiasUse{}});
        return true;
      }
    }
  }
  return false;
}

// cat([p, x], d) with p expanded over the examples: a class token beside the tokens of an image. Seen from the output
// it shifts the one position that it fills.
bool recognise_token(RecogniseContext& context) {
  const OperatorRecord& record = context.record;
  if (record.arguments.size() < 2 || !record.arguments[0].isTensorList() || !record.arguments[1].isInt()) return false;
  const auto rank = static_cast<int64_t>(record.output_shape.size());
  const int64_t dimension = record.arguments[1].toInt() + (record.arguments[1].toInt() < 0 ? rank : 0);
  std::vector<ParameterUse> uses;
  int64_t batch = -1, first = 0;
  for (const at::Tensor& tensor : record.arguments[0].toTensorVector()) {
    if (tensor.dim() != rank) return false;
    const int64_t place = first;
    first += tensor.size(dimension);
    if (context.lookup.sharing(tensor).empty()) continue;
    at::Tensor token = tensor;
    for (int64_t d = 0; d < rank; ++d)
      if (tensor.stride(d) == 0) token = token.narrow(d, 0, 1);
    const int64_t parameter = context.lookup.reshaped(token);
    if (parameter < 0 || tensor.size(dimension) != 1) return false;
    ElementwiseUse use;
    use.aligned_shape = token.sizes().vec();
    std::vector<int64_t> mask(static_cast<size_t>(rank), 1);
    mask[dimension] = record.output_shape[dimension];
    use.factor = at::zeros(mask, tensor.options().requires_grad(false));
    use.factor.narrow(dimension, place, 1).fill_(1);
    batch = find_batch_dimension(record.output_shape, context.examples, rank, use.aligned_shape);
    if (batch < 0 || batch == dimension) return false;
    uses.push_back({static_cast<size_t>(parameter), use});
  }
  if (uses.empty()) return false;
  RecognisedCall recognised = begin_call(context, batch, {});
  recognised.call.uses = std::move(uses);
  if (!has_only(record, recognised.call)) return false;
  context.earlier.push_back(std::move(recognised));
  return true;
}

}  // namespace

// x + p, x - p, x * p and their in-place forms, p of any shape that broadcasts; and tokens put beside others.
bool recognise_elementwise(RecogniseContext& context) {
  const OperatorRecord& record = context.record;
  if (record.name == "aten::cat") return recognise_token(context);
  const std::string name =
      !record.name.empty() && record.name.back() == '_' ? record.name.substr(0, record.name.size() - 1) : record.name;
  const bool multiply = name == "aten::mul", add = name == "aten::add", subtract = name == "aten::sub";
  if (!multiply && !add && !subtract) return false;
  const at::Tensor first = tensor_argument(record, 0), second = tensor_argument(record, 1);
  if (!first.defined() || !second.defined()) return false;
  const int64_t first_parameter = context.lookup.reshaped(first), second_parameter = context.lookup.reshaped(second);
  if ((first_parameter >= 0) == (second_parameter >= 0)) return false;  // a product of two parameters is no layer
  const bool parameter_first = first_parameter >= 0;
  const size_t parameter = static_cast<size_t>(parameter_first ? first_parameter : second_parameter);
  const at::Tensor& tensor = parameter_first ? first : second;
  const size_t operand = parameter_first ? 1 : 0;

  const size_t rank = record.output_shape.size();
  if (rank == 0 || static_cast<size_t>(tensor.dim()) > rank) return false;
  ElementwiseUse use;
  use.aligned_shape = aligned_shape(tensor.sizes(), rank);
  const int64_t batch = find_batch_dimension(record.output_shape, context.examples, rank, use.aligned_shape);
  if (batch < 0) return false;
  if (!multiply) {
    const double alpha =
        record.arguments.size() > 2 && record.arguments[2].isScalar() ? record.arguments[2].toScalar().toDouble() : 1;
    use.multiplier = parameter_first ? 1 : (subtract ? -alpha : alpha);
  }
  if (add && use.multiplier == 1 && join_as_bias(context, operand, parameter, use.aligned_shape)) return true;

  RecognisedCall recognised =
      begin_call(context, batch, multiply ? std::vector<size_t>{operand} : std::vector<size_t>{});
  if (multiply) use.factor = recognised.inputs[0];
  if (multiply && record.name.back() == '_' && !parameter_first)
    return false;  // x.mul_(p) destroys the factor that is needed
  recognised.call.uses.push_back({parameter, use});
  if (!has_only(record, recognised.call)) return false;
  context.earlier.push_back(std::move(recognised));
  return true;
}

// Layer, group and batch norm (evaluation statistics): a scale of the normalised input, and a shift.
bool recognise_normalisation(RecogniseContext& context) {
  const OperatorRecord& record = context.record;
  const at::Tensor x = tensor_argument(record, 0);
  if (!x.defined() || x.dim() < 2) return false;
  at::Tensor weight, bias, normalised;
  std::vector<int64_t> shape;  // of weight and bias, aligned with x
  if (record.name == "aten::layer_norm" || record.name == "aten::native_layer_norm") {
    weight = tensor_argument(record, 2), bias = tensor_argument(record, 3);
    const std::vector<int64_t> normalised_shape = record.arguments[1].toIntVector();
    normalised = at::layer_norm(x.detach(), normalised_shape, {}, {}, record.arguments[4].toDouble());
    shape = aligned_shape(normalised_shape, x.dim());
  } else if (record.name == "aten::group_norm") {
    weight = tensor_argument(record, 2), bias = tensor_argument(record, 3);
    normalised = at::group_norm(x.detach(), record.arguments[1].toInt(), {}, {}, record.arguments[4].toDouble());
  } else if (record.name == "aten::batch_norm") {
    weight = tensor_argument(record, 1), bias = tensor_argument(record, 2);
    const at::Tensor mean = tensor_argument(record, 3), variance = tensor_argument(record, 4);
    if (!mean.defined() || !variance.defined()) return false;
    std::vector<int64_t> channels(x.dim(), 1);
    channels[1] = x.size(1);
    normalised =
        (x.detach() - mean.view(channels)) * at::rsqrt(variance.view(channels) + record.arguments[7].toDouble());
  } else {
    return false;
  }
  if (shape.empty()) {
    shape.assign(x.dim(), 1);
    shape[1] = x.size(1);
  }
  const int64_t batch = find_batch_dimension(x.sizes().vec(), context.examples, 2, shape);
  if (batch < 0) return false;
  RecognisedCall recognised = begin_call(context, batch, {0});
  for (const at::Tensor& tensor : {weight, bias}) {
    const int64_t parameter = tensor.defined() ? context.lookup.exact(tensor) : -1;
    if (parameter < 0) continue;
    ElementwiseUse use;
    use.aligned_shape = shape;
    if (tensor.is_same(weight)) use.factor = normalised;
    recognised.call.uses.push_back({static_cast<size_t>(parameter), use});
  }
  if (!has_only(record, recognised.call)) return false;
  context.earlier.push_back(std::move(recognised));
  return true;
}

}  // namespace ockham
