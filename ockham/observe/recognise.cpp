#include "ockham/observe/recognise.h"

#include <algorithm>

namespace ockham {

const std::vector<NamedRecogniser>& recognisers() {
  static const std::vector<NamedRecogniser> table = {
      {"linear", recognise_linear},           {"convolution", recognise_convolution},
      {"elementwise", recognise_elementwise}, {"normalisation", recognise_normalisation},
      {"embedding", recognise_embedding},
  };
  return table;
}

int64_t find_batch_dimension(const std::vector<int64_t>& shape, int64_t examples, size_t candidates,
                             const std::vector<int64_t>& broadcast) {
  const auto allowed = [&](size_t d) {
    return d < std::min(candidates, shape.size()) && (broadcast.empty() || broadcast[d] == 1);
  };
  for (size_t d = 0; d < 2; ++d) {
    if (allowed(d) && shape[d] == examples) return static_cast<int64_t>(d);
  }
  return allowed(0) && shape[0] > 0 && shape[0] % examples == 0 ? 0 : -1;
}

RecognisedCall begin_call(const RecogniseContext& context, int64_t batch_dimension,
                          const std::vector<size_t>& input_arguments) {
  RecognisedCall recognised;
  recognised.call.operator_name = context.record.name;
  recognised.call.output_shape = context.record.output_shape;
  recognised.call.examples = context.examples;
  recognised.call.batch_dimension = batch_dimension;
  recognised.output_edge = context.record.output_edge;
  for (size_t position : input_arguments) {
    recognised.inputs.push_back(tensor_argument(context.record, position).detach());
    recognised.versions.push_back(context.record.argument_versions[position]);
  }
  return recognised;
}

at::Tensor tensor_argument(const OperatorRecord& record, size_t position) {
  if (position >= record.arguments.size() || !record.arguments[position].isTensor()) return {};
  return record.arguments[position].toTensor();
}

bool has_only(const OperatorRecord& record, const LayerCall& call) {
  return std::all_of(record.touched.begin(), record.touched.end(), [&](size_t parameter) {
    return std::any_of(call.uses.begin(), call.uses.end(),
                       [&](const ParameterUse& use) { return use.parameter == parameter; });
  });
}

// y = x Wᵀ + b as aten::linear (TorchScript), addmm(b, x, W.t()) or matmul(x, W.t()) (C++ nn::Linear), or x W with W
// [in][out].
bool recognise_linear(RecogniseContext& context) {
  const OperatorRecord& record = context.record;
  size_t input = 0, weight = 1;
  int64_t bias = -1;
  if (record.name == "aten::linear") {
    bias = 2;
  } else if (record.name == "aten::addmm") {
    const auto is_one = [&](size_t position) {
      return record.arguments.size() <= position ||
             (record.arguments[position].isScalar() && record.arguments[position].toScalar().toDouble() == 1);
    };
    if (!is_one(3) || !is_one(4)) return false;
    input = 1, weight = 2, bias = 0;
  } else if (record.name != "aten::matmul" && record.name != "aten::mm") {
    return false;
  }
  const at::Tensor x = tensor_argument(record, input), w = tensor_argument(record, weight);
  if (!x.defined() || !w.defined() || x.dim() < 2 || w.dim() != 2 ||
      record.output_shape.size() != static_cast<size_t>(x.dim())) {
    return false;
  }
  // aten::linear takes W [out][in] itself; products take its transpose, or W [in][out] itself.
  const bool is_linear = record.name == "aten::linear";
  const int64_t exact = context.lookup.exact(w), transposed = context.lookup.transposed(w);
  const int64_t parameter = exact >= 0 ? exact : transposed;
  const bool gradient_left = is_linear ? exact >= 0 : transposed >= 0 && !(exact >= 0);
  if (parameter < 0 && w.requires_grad()) return false;

  const int64_t batch = find_batch_dimension(x.sizes().vec(), context.examples, x.dim() - 1);
  if (batch < 0) return false;
  RecognisedCall recognised = begin_call(context, batch, {input});
  recognised.call.input = recognised.inputs[0];
  if (parameter >= 0) {
    MatrixUse use;
    use.gradient_left = gradient_left;
    recognised.call.uses.push_back({static_cast<size_t>(parameter), use});
  }
  if (bias >= 0) {
    const int64_t index = context.lookup.exact(tensor_argument(record, bias));
    if (index >= 0 && tensor_argument(record, bias).dim() == 1)
      recognised.call.uses.push_back({static_cast<size_t>(index), BiasUse{}});
  }
  if (!has_only(record, recognised.call)) return false;
  context.earlier.push_back(std::move(recognised));
  return true;
}

// aten::embedding(weight, indices): a product with one-hot rows, W [in][out].
bool recognise_embedding(RecogniseContext& context) {
  const OperatorRecord& record = context.record;
  if (record.name != "aten::embedding") return false;
  const at::Tensor weight = tensor_argument(record, 0), indices = tensor_argument(record, 1);
  const int64_t parameter = context.lookup.exact(weight);
  if (parameter < 0 || !indices.defined() || record.arguments.size() < 4) return false;
  if (record.arguments[3].isBool() && record.arguments[3].toBool()) return false;  // gradients scaled by frequency
  const int64_t batch = find_batch_dimension(indices.sizes().vec(), context.examples, indices.dim());
  if (batch < 0) return false;
  RecognisedCall recognised = begin_call(context, batch, {1});
  recognised.call.input = recognised.inputs[0];
  MatrixUse use;
  use.kind = MatrixUse::Operator::embedding;
  use.gradient_left = false;
  use.rows = weight.size(0);
  use.padding_index = record.arguments[2].toInt();
  if (use.padding_index < 0 && use.padding_index != -1) use.padding_index += use.rows;
  recognised.call.uses.push_back({static_cast<size_t>(parameter), use});
  if (!has_only(record, recognised.call)) return false;
  context.earlier.push_back(std::move(recognised));
  return true;
}

}  // namespace ockham
