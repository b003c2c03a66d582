// One batch's forward pass, and products with its Jacobian J [N·C, P] that never form it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ockham/network/network.h"

namespace ockham {

/// How J v is made. The other way, Jᵀ c, is a backward pass.
enum class TangentMode {
  double_backward,  // Jᵀu is linear in u, and its derivative there is J: one more backward pass for each v
  forward_mode,     // libtorch's forward mode: one more forward pass for each v
};

class BatchJacobian {
 public:
  /// Inputs of a floating type are brought to the network's. The network must outlive this.
  BatchJacobian(const Network& network, const at::Tensor& inputs, TangentMode mode);

  const at::Tensor& outputs() const { return outputs_; }  // [N, C], detached
  at::Tensor times(const at::Tensor& vector) const;       // J v [N, C] for v [P] in the network's type
  /// sum [P] += Jᵀ c for c [N, C]; the sum in float64.
  void add_transposed(const at::Tensor& column, at::Tensor& sum) const;

 private:
  std::vector<at::Tensor> split(const at::Tensor& vector) const;  // [P] to the parameters' shapes
  at::Tensor forward() const;                                     // [N, C]
  at::Tensor push_forward(const std::vector<at::Tensor>& tangents) const;

  const Network& network_;
  TangentMode mode_;
  at::Tensor inputs_, graph_, outputs_;
  at::Tensor column_;                  // u
  std::vector<at::Tensor> gradients_;  // Jᵀu where it depends on u, undefined elsewhere
};

/// Whether a product with J equals the one with Jᵀ, cᵀ(J v) = (Jᵀc)ᵀ v, on a few of these inputs. libtorch's forward
/// mode lacks some operators and has wrong formulas for others (1.13: an embedding with a padding index).
bool tangents_work(const Network& network, const at::Tensor& inputs, TangentMode mode);

/// The first way that works for this network. Double backward shares one forward and one backward pass over all
/// vectors, so it comes first. Throws Error(data) when neither works.
TangentMode choose_tangent_mode(const Network& network, const at::Tensor& inputs);

}  // namespace ockham
