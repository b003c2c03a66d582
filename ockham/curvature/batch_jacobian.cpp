#include "ockham/curvature/batch_jacobian.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/forward_grad.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "ockham/base/error.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

/// libtorch knows one level of forward mode in the whole process.
class ForwardLevel {
 public:
  ForwardLevel() : lock_(mutex()), level_(torch::autograd::ForwardADLevel::get_next_idx()) {}
  ~ForwardLevel() { torch::autograd::ForwardADLevel::release_idx(level_); }
  ForwardLevel(const ForwardLevel&) = delete;
  ForwardLevel& operator=(const ForwardLevel&) = delete;
  uint64_t number() const { return level_; }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> lock_;
  uint64_t level_;
};

at::Tensor as_dense(const at::Tensor& gradient) {
  return gradient.defined() && gradient.is_sparse() ? gradient.to_dense() : gradient;
}

}  // namespace

BatchJacobian::BatchJacobian(const Network& network, const at::Tensor& inputs, TangentMode mode)
    : network_(network), mode_(mode), inputs_(inputs.is_floating_point() ? inputs.to(network.dtype()) : inputs) {
  const at::AutoGradMode with_gradients(true);
  graph_ = forward();
  outputs_ = graph_.detach();
  if (mode == TangentMode::forward_mode) return;
  column_ = at::zeros_like(outputs_).requires_grad_(true);
  gradients_ = torch::autograd::grad({graph_}, network.parameters(), {column_}, /*retain_graph=*/true,
                                     /*create_graph=*/true, /*allow_unused=*/true);
  for (at::Tensor& gradient : gradients_) {
    gradient = as_dense(gradient);
    if (gradient.defined() && !gradient.requires_grad()) gradient.reset();
  }
}

at::Tensor BatchJacobian::forward() const {
  const at::Tensor outputs = network_.forward(inputs_);
  return outputs.dim() == 1 ? outputs.unsqueeze(1) : outputs;
}

std::vector<at::Tensor> BatchJacobian::split(const at::Tensor& vector) const {
  std::vector<at::Tensor> parts;
  for (const ParameterSlot& slot : network_.layout().slots())
    parts.push_back(vector.narrow(0, slot.offset, slot.size).view(slot.shape));
  return parts;
}

at::Tensor BatchJacobian::times(const at::Tensor& vector) const {
  const std::vector<at::Tensor> tangents = split(vector);
  if (mode_ == TangentMode::forward_mode) return push_forward(tangents);
  std::vector<at::Tensor> reached, along;
  for (size_t i = 0; i < gradients_.size(); ++i) {
    if (!gradients_[i].defined()) continue;
    reached.push_back(gradients_[i]);
    along.push_back(tangents[i]);
  }
  if (reached.empty()) return at::zeros_like(outputs_);
  const at::Tensor result =
      torch::autograd::grad(reached, {column_}, along, /*retain_graph=*/true, /*create_graph=*/false,
                            /*allow_unused=*/true)[0];
  return result.defined() ? result : at::zeros_like(outputs_);
}

at::Tensor BatchJacobian::push_forward(const std::vector<at::Tensor>& tangents) const {
  const at::NoGradGuard no_graph;
  const ForwardLevel level;
  for (size_t i = 0; i < tangents.size(); ++i)
    network_.parameters()[i]._set_fw_grad(tangents[i], level.number(), /*is_inplace_op=*/false);
  const at::Tensor tangent = at::Tensor(forward()._fw_grad(level.number()));
  return tangent.defined() ? tangent.clone() : at::zeros_like(outputs_);
}

void BatchJacobian::add_transposed(const at::Tensor& column, at::Tensor& sum) const {
  const auto gradients =
      torch::autograd::grad({graph_}, network_.parameters(), {column}, /*retain_graph=*/true, /*create_graph=*/false,
                            /*allow_unused=*/true);
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const ParameterSlot& slot = network_.layout()[i];
    sum.narrow(0, slot.offset, slot.size).add_(as_dense(gradients[i]).reshape(-1));
  }
}

bool tangents_work(const Network& network, const at::Tensor& inputs, TangentMode mode) {
  constexpr int64_t few = 2;
  const double tolerance = network.dtype() == at::kDouble ? 1e-8 : 1e-3;
  const at::Tensor vector =
      at::randn({network.layout().total()}, random_stream({0x74616e67656e74}), at::kDouble).to(network.dtype());
  try {
    const BatchJacobian batch(network, inputs.narrow(0, 0, std::min(few, inputs.size(0))), mode);
    const at::Tensor tangent = batch.times(vector).to(at::kDouble);
    const at::Tensor column = at::randn(tangent.sizes(), random_stream({0x636f6c756d6e}), at::kDouble);
    at::Tensor back = at::zeros({vector.size(0)}, at::kDouble);
    batch.add_transposed(column.to(network.dtype()), back);
    const at::Tensor forwards = tangent * column, backwards = back * vector;
    const double size = forwards.abs().sum().item<double>() + backwards.abs().sum().item<double>();
    return std::abs((forwards.sum() - backwards.sum()).item<double>()) <= tolerance * size;
  } catch (const c10::Error&) {
    return false;  // an operator lacks this derivative
  } catch (const std::runtime_error&) {
    return false;
  }
}

TangentMode choose_tangent_mode(const Network& network, const at::Tensor& inputs) {
  for (TangentMode mode : {TangentMode::double_backward, TangentMode::forward_mode})
    if (tangents_work(network, inputs, mode)) return mode;
  throw Error(ErrorKind::data,
              "The network uses an operator that can be differentiated only once, so that products with its curvature "
              "cannot be made; use --structure kron or diag, or --log-det exact.");
}

}  // namespace ockham
