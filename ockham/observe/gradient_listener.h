// Private to observe/: gradients at chosen edges of a graph, each handed on while autograd makes the next.
#pragma once

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <memory>

#include "ockham/observe/observe_forward.h"

namespace ockham {

class GradientListener {
 public:
  /// Listens at `edges` of the graph that hangs at `root`. The graph may outlive this; it is silent then.
  GradientListener(torch::autograd::Edge root, torch::autograd::edge_list edges);

  /// Back-propagates `column` from the root, and no further than to the edges. The graph is kept.
  void backward(const at::Tensor& column, const Observation::EachGradient& each) const;

  struct Ear {
    const Observation::EachGradient* each = nullptr;  // only during `backward`
  };

 private:
  torch::autograd::Edge root_;
  torch::autograd::edge_list edges_;
  std::vector<size_t> ends_;  // edges below which there is none
  std::shared_ptr<Ear> ear_ = std::make_shared<Ear>();
};

}  // namespace ockham
