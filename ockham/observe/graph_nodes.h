// Private to observe/: walks through a graph of autograd.
#pragma once

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <unordered_set>
#include <vector>

namespace ockham {

/// All nodes from `root` down, those nearer to the leaves first.
std::vector<torch::autograd::Node*> nodes_upwards(torch::autograd::Node* root);

/// Nodes from which a node of `edges` can be reached, other than themselves.
std::unordered_set<torch::autograd::Node*> nodes_above(torch::autograd::Node* root,
                                                       const torch::autograd::edge_list& edges);

/// Whether an edge ends at a node of `edges`, or of those above them.
bool leads_to(const torch::autograd::Edge& edge, const torch::autograd::edge_list& edges,
              const std::unordered_set<torch::autograd::Node*>& above);

/// Whether nobody else listens to a node.
bool has_no_hooks(const torch::autograd::Node& node);

}  // namespace ockham
