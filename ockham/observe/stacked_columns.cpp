#include "ockham/observe/stacked_columns.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/generated/Functions.h>

#include <algorithm>
#include <set>
#include <string>

#include "ockham/observe/graph_nodes.h"

namespace ockham {
namespace {

namespace generated = torch::autograd::generated;
using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Node;

/// Nodes with one gradient in and one out, of the same examples.
bool is_function_of_examples(const Node& node) {
  static const std::set<std::string> names = {"ReluBackward0",         "TanhBackward0",      "SigmoidBackward0",
                                              "GeluBackward0",         "SiluBackward0",      "EluBackward0",
                                              "SoftplusBackward0",     "LeakyReluBackward0", "HardtanhBackward0",
                                              "ReshapeAliasBackward0", "ViewBackward0",      "UnsafeViewBackward0"};
  return names.count(node.name()) > 0 && node.num_inputs() == 1 && node.next_edges().size() == 1;
}

/// The weight [o, d] of y = x Wᵀ (+ b) when x alone leads further down; undefined for any other node.
at::Tensor weight_of(Node& node, size_t leading) {
  if (auto* product = dynamic_cast<generated::AddmmBackward0*>(&node)) {
    if (leading == 1 && product->alpha.equal(1)) return product->mat2_.unpack().detach().t();
  } else if (auto* plain = dynamic_cast<generated::MmBackward0*>(&node)) {
    if (leading == 0) return plain->mat2_.unpack().detach().t();
  }
  return {};
}

// [K, N, ...] through a node that knows [N, ...].
at::Tensor through(Node& node, const at::Tensor& gradients) {
  if (auto* relu = dynamic_cast<generated::ReluBackward0*>(&node))
    return at::threshold_backward(gradients, relu->result_.unpack(node.shared_from_this()).detach(), 0);
  std::vector<at::Tensor> results;
  for (const at::Tensor& gradient : gradients.unbind(0)) results.push_back(node({gradient})[0]);
  return at::stack(results);
}

}  // namespace

std::optional<StackedColumns> StackedColumns::along(const Edge& root, const edge_list& listened) {
  const std::unordered_set<Node*> above = nodes_above(root.function.get(), listened);
  StackedColumns stacked;
  bool multiplies = false;
  for (Edge at = root;;) {
    Step step;
    step.node = at.function.get();
    if (at.input_nr != 0 || !has_no_hooks(*step.node)) return std::nullopt;
    for (size_t call = 0; call < listened.size(); ++call) {
      if (listened[call].function != at.function) continue;
      if (listened[call].input_nr != 0) return std::nullopt;
      step.calls.push_back(call);
    }
    std::vector<size_t> leading;
    for (size_t i = 0; i < step.node->next_edges().size(); ++i)
      if (leads_to(step.node->next_edge(i), listened, above)) leading.push_back(i);
    if (leading.empty()) {
      stacked.steps_.push_back(std::move(step));
      return multiplies ? std::optional(std::move(stacked)) : std::nullopt;
    }
    if (leading.size() > 1) return std::nullopt;
    step.weight = weight_of(*step.node, leading[0]);
    if (!step.weight.defined() && !is_function_of_examples(*step.node)) return std::nullopt;
    multiplies = multiplies || step.weight.defined();
    at = step.node->next_edge(leading[0]);
    stacked.steps_.push_back(std::move(step));
  }
}

void StackedColumns::backward(const at::Tensor& columns, const Observation::EachGradient& each) const {
  const at::NoGradGuard no_gradients;
  at::Tensor gradients = columns;
  for (size_t s = 0; s < steps_.size(); ++s) {
    for (size_t call : steps_[s].calls) each(call, gradients);
    if (s + 1 == steps_.size()) return;
    const at::Tensor& weight = steps_[s].weight;
    if (!weight.defined()) {
      gradients = through(*steps_[s].node, gradients);
      continue;
    }
    const int64_t count = gradients.size(0), examples = gradients.size(1);
    gradients = gradients.reshape({count * examples, -1}).mm(weight).view({count, examples, -1});
  }
}

}  // namespace ockham
