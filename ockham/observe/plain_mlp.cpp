#include "ockham/observe/plain_mlp.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ockham {
namespace {

// Above these the arithmetic takes longer than the bookkeeping, and libtorch's operators divide it among threads.
constexpr int64_t kFewWeights = 1 << 15;
constexpr int64_t kFewActivations = 1 << 20;  // N times the widest layer

thread_local PlainMlp* current = nullptr;

bool is_small(const Network& network, const at::Tensor& inputs) {
  int64_t widest = inputs.numel() / std::max<int64_t>(1, inputs.size(0));
  for (const ParameterSlot& slot : network.layout().slots())
    if (!slot.shape.empty()) widest = std::max(widest, slot.shape[0]);
  return network.layout().total() <= kFewWeights && widest * inputs.size(0) <= kFewActivations;
}

void make_room(at::Tensor& tensor, int64_t rows, int64_t columns, const at::TensorOptions& options) {
  if (!tensor.defined())
    tensor = at::empty({rows, columns}, options);
  else if (tensor.size(0) != rows)
    tensor.resize_({rows, columns});  // keeps its memory
}

}  // namespace

PlainMlp::PlainMlp(const Network& network, std::vector<Layer> layers)
    : network_(network), layers_(std::move(layers)), passes_(layers_.size()) {}

const at::Tensor& PlainMlp::forward(const at::Tensor& inputs) {
  const at::NoGradGuard no_gradients;
  const at::TensorOptions options = inputs.options().requires_grad(false);
  at::Tensor x = inputs;
  for (size_t l = 0; l < layers_.size(); ++l) {
    Pass& pass = passes_[l];
    const at::Tensor& weight = network_.parameters()[layers_[l].weight];
    pass.input = x;
    make_room(pass.output, x.size(0), weight.size(0), options);
    at::addmm_out(pass.output, network_.parameters()[layers_[l].bias], x, weight.t());
    x = pass.output;
    if (layers_[l].activation.apply == nullptr) continue;
    make_room(pass.result, x.size(0), weight.size(0), options);
    layers_[l].activation.apply(pass.result, pass.output);
    x = pass.result;
  }
  return passes_.back().output;
}

void PlainMlp::backward(const at::Tensor& column) {
  const at::NoGradGuard no_gradients;
  passes_.back().gradient = column;
  for (size_t l = layers_.size(); l-- > 1;) {
    const at::Tensor& weight = network_.parameters()[layers_[l].weight];
    Pass& below = passes_[l - 1];
    const bool passes_through = layers_[l - 1].activation.derive == nullptr;
    at::Tensor& sent = passes_through ? below.gradient : below.sent;
    make_room(sent, column.size(0), weight.size(1), column.options());
    at::mm_out(sent, passes_[l].gradient, weight);
    if (passes_through) continue;
    make_room(below.gradient, column.size(0), weight.size(1), column.options());
    layers_[l - 1].activation.derive(below.gradient, sent, below.output, below.result);
  }
}

void PlainMlp::add_parameter_gradients() const {
  const at::NoGradGuard no_gradients;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const at::Tensor &weight = network_.parameters()[layers_[l].weight], &bias = network_.parameters()[layers_[l].bias];
    const at::Tensor& gradient = passes_[l].gradient;
    at::Tensor &weight_gradient = weight.mutable_grad(), &bias_gradient = bias.mutable_grad();
    if (weight_gradient.defined())
      weight_gradient.addmm_(gradient.t(), passes_[l].input);
    else
      weight_gradient = gradient.t().mm(passes_[l].input);
    if (bias_gradient.defined())
      bias_gradient.add_(gradient.sum(0));
    else
      bias_gradient = gradient.sum(0);
  }
}

HandmadePasses::HandmadePasses(const Network& network, const at::Tensor& inputs) : previous_(current) {
  if (inputs.dim() == 2 && is_small(network, inputs)) mlp_ = PlainMlp::recognise(network, inputs);
  current = mlp_ ? &*mlp_ : nullptr;
}

HandmadePasses::~HandmadePasses() { current = previous_; }

PlainMlp* HandmadePasses::of(const Network& network) {
  if (current == nullptr || current->network().parameters().size() != network.parameters().size()) return nullptr;
  return current->network().parameters()[0].is_same(network.parameters()[0]) ? current : nullptr;
}

}  // namespace ockham
