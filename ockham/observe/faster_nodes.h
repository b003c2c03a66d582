// Private to observe/: nodes of a graph of autograd whose gradients we know how to send back in less time.
#pragma once

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

namespace ockham {

/// Replaces nodes of the graph below `root` by others that give the same gradients: max poolings, each together with a
/// rectification of its images that nothing else uses (linalg/pooling), and convolutions, whose gradients are often
/// mostly zero (linalg/sparse_convolution; weight gradients stay libtorch's). The graph must be ours alone. `listened`
/// follows; its poolings and rectifications, what has hooks, and what linalg does not take stay as they are.
void use_faster_nodes(torch::autograd::Node* root, torch::autograd::edge_list& listened);

}  // namespace ockham
