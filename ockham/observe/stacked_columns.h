// Private to observe/: several columns sent back at once through a chain of dense layers.
#pragma once

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <optional>

#include "ockham/observe/observe_forward.h"

namespace ockham {

/// The way from the outputs down to the lowest of the listened edges, when it is one chain of matrix products and
/// functions of the examples between them. A product of K·N rows by a weight is several times as fast as K of N rows.
class StackedColumns {
 public:
  /// Nothing when the graph forks above the lowest edge, or holds other layers.
  static std::optional<StackedColumns> along(const torch::autograd::Edge& root,
                                             const torch::autograd::edge_list& listened);

  /// Sends columns [K, N, C] back; each(call, gradients) with gradients [K, N, ...].
  void backward(const at::Tensor& columns, const Observation::EachGradient& each) const;

 private:
  struct Step {
    std::vector<size_t> calls;  // whose outputs' gradients are those before this step
    torch::autograd::Node* node = nullptr;
    at::Tensor weight;  // [o, d] of a product x Wᵀ: gradients g become g W. Undefined for a function of the examples.
  };
  std::vector<Step> steps_;
};

}  // namespace ockham
