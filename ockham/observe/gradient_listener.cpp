#include "ockham/observe/gradient_listener.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function_hook.h>

#include "ockham/observe/graph_nodes.h"

namespace ockham {
namespace {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Node;
using torch::autograd::variable_list;

/// Called with the gradients of a node's outputs just before the node passes them on.
class Hook : public torch::autograd::FunctionPreHook {
 public:
  Hook(std::shared_ptr<GradientListener::Ear> ear, size_t call, uint32_t output)
      : ear_(std::move(ear)), call_(call), output_(output) {}
  variable_list operator()(const variable_list& gradients) override {
    if (ear_->each != nullptr && gradients[output_].defined()) (*ear_->each)(call_, gradients[output_]);
    return gradients;
  }

 private:
  std::shared_ptr<GradientListener::Ear> ear_;
  size_t call_;
  uint32_t output_;
};

}  // namespace

GradientListener::GradientListener(Edge root, edge_list edges) : root_(std::move(root)), edges_(std::move(edges)) {
  // Autograd runs what leads to an edge that it is asked for. Asked for the lowest only, it keeps only these, and comes
  // past the others on its way.
  const std::unordered_set<Node*> above = nodes_above(root_.function.get(), edges_);
  for (size_t call = 0; call < edges_.size(); ++call) {
    Node* node = edges_[call].function.get();
    if (above.count(node) == 0)
      ends_.push_back(call);
    else
      node->add_pre_hook(std::make_unique<Hook>(ear_, call, edges_[call].input_nr));
  }
}

void GradientListener::backward(const at::Tensor& column, const Observation::EachGradient& each) const {
  struct Listening {
    Listening(Ear& ear, const Observation::EachGradient& each) : ear(ear) { ear.each = &each; }
    ~Listening() { ear.each = nullptr; }
    Ear& ear;
  };
  edge_list ends;
  for (const size_t call : ends_) ends.push_back(edges_[call]);
  variable_list gradients;
  {
    const Listening listening(*ear_, each);
    gradients = torch::autograd::Engine::get_default_engine().execute({root_}, {column}, /*keep_graph=*/true,
                                                                      /*create_graph=*/false,
                                                                      /*accumulate_grad=*/false, ends);
  }
  for (size_t i = 0; i < ends_.size(); ++i)
    if (gradients[i].defined()) each(ends_[i], gradients[i]);
}

}  // namespace ockham
