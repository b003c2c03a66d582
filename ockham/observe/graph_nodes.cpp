#include "ockham/observe/graph_nodes.h"

#include <torch/csrc/autograd/function_hook.h>

#include <algorithm>

namespace ockham {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Node;

std::vector<Node*> nodes_upwards(Node* root) {
  std::vector<Node*> nodes = {root};
  std::unordered_set<Node*> seen = {root};
  for (size_t next = 0; next < nodes.size(); ++next) {
    for (const Edge& edge : nodes[next]->next_edges()) {
      Node* below = edge.function.get();
      if (below != nullptr && seen.insert(below).second) nodes.push_back(below);
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const Node* a, const Node* b) { return a->topological_nr() < b->topological_nr(); });
  return nodes;
}

bool leads_to(const Edge& edge, const edge_list& edges, const std::unordered_set<Node*>& above) {
  if (!edge.is_valid()) return false;
  return above.count(edge.function.get()) > 0 ||
         std::any_of(edges.begin(), edges.end(), [&](const Edge& end) { return end.function == edge.function; });
}

std::unordered_set<Node*> nodes_above(Node* root, const edge_list& edges) {
  std::unordered_set<Node*> above;
  for (Node* node : nodes_upwards(root)) {
    const edge_list& below = node->next_edges();
    if (std::any_of(below.begin(), below.end(), [&](const Edge& edge) { return leads_to(edge, edges, above); }))
      above.insert(node);
  }
  return above;
}

bool has_no_hooks(const Node& node) { return node.pre_hooks().empty() && node.post_hooks().empty(); }

}  // namespace ockham
