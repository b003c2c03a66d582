#include <ATen/ops/constant_pad_nd.h>

#include "ockham/observe/recognise.h"

namespace ockham {
namespace {

// Where each overload keeps its arguments; -1 for absent ones.
struct ArgumentPositions {
  int stride, padding, dilation, groups, transposed;
  bool always_transposed;
};

bool positions_of(const std::string& name, ArgumentPositions& positions) {
  if (name == "aten::conv1d" || name == "aten::conv2d" || name == "aten::conv3d") {
    positions = {3, 4, 5, 6, -1, false};
  } else if (name == "aten::convolution" || name == "aten::_convolution") {
    positions = {3, 4, 5, 8, 6, false};
  } else if (name == "aten::conv_transpose1d" || name == "aten::conv_transpose2d" || name == "aten::conv_transpose3d") {
    positions = {3, 4, 7, 6, -1, true};
  } else {
    return false;
  }
  return true;
}

// An int[] argument, whose single value stands for every dimension.
std::vector<int64_t> integers(const OperatorRecord& record, int position, size_t dimensions, int64_t absent) {
  std::vector<int64_t> values;
  if (position >= 0 && static_cast<size_t>(position) < record.arguments.size()) {
    const c10::IValue& value = record.arguments[position];
    if (value.isIntList()) values = value.toIntVector();
    if (value.isInt()) values = {value.toInt()};
  }
  if (values.empty()) values = {absent};
  if (values.size() == 1) values.resize(dimensions, values[0]);
  return values;
}

}  // namespace

bool recognise_convolution(RecogniseContext& context) {
  const OperatorRecord& record = context.record;
  ArgumentPositions positions{};
  if (!positions_of(record.name, positions)) return false;
  const at::Tensor x = tensor_argument(record, 0), w = tensor_argument(record, 1), b = tensor_argument(record, 2);
  if (!x.defined() || !w.defined() || x.dim() < 3 || x.dim() != w.dim())
    return false;  // unbatched inputs have no examples
  const int64_t parameter = context.lookup.exact(w);
  if (parameter < 0 && w.requires_grad()) return false;
  const size_t dimensions = static_cast<size_t>(x.dim()) - 2;
  if (x.size(0) % context.examples != 0) return false;

  MatrixUse use;
  const bool transposed =
      positions.always_transposed || (positions.transposed >= 0 && record.arguments[positions.transposed].toBool());
  use.kind = transposed ? MatrixUse::Operator::transposed_convolution : MatrixUse::Operator::convolution;
  use.gradient_left = !transposed;
  use.kernel = w.sizes().slice(2).vec();
  use.stride = integers(record, positions.stride, dimensions, 1);
  use.dilation = integers(record, positions.dilation, dimensions, 1);
  if (positions.groups >= 0 && static_cast<size_t>(positions.groups) < record.arguments.size()) {
    use.groups = record.arguments[positions.groups].toInt();
  }

  RecognisedCall recognised = begin_call(context, 0, {0});
  recognised.call.input = recognised.inputs[0];
  if (record.arguments.size() > static_cast<size_t>(positions.padding) &&
      record.arguments[positions.padding].isString()) {
    use.padding.assign(dimensions, 0);
    if (record.arguments[positions.padding].toStringRef() == "same") {
      // An even kernel pads one more at the end; the input is padded here and the convolution then has no padding of
      // its own.
      std::vector<int64_t> pad;
      for (size_t d = dimensions; d-- > 0;) {
        const int64_t total = use.dilation[d] * (use.kernel[d] - 1);
        pad.push_back(total / 2);
        pad.push_back(total - total / 2);
      }
      recognised.call.input = at::constant_pad_nd(recognised.call.input, pad, 0);
    }
  } else {
    use.padding = integers(record, positions.padding, dimensions, 0);
  }
  if (parameter >= 0) recognised.call.uses.push_back({static_cast<size_t>(parameter), use});
  const int64_t bias = b.defined() ? context.lookup.exact(b) : -1;
  if (bias >= 0) recognised.call.uses.push_back({static_cast<size_t>(bias), BiasUse{}});
  if (!has_only(record, recognised.call)) return false;
  context.earlier.push_back(std::move(recognised));
  return true;
}

}  // namespace ockham
