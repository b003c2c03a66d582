// The network, data and hyperparameters of a random case.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "ockham/data/dataset.h"
#include "ockham/probability/model.h"
#include "tests/properties/random_case.h"

namespace ockham::properties {

/// One use of a weight or a bias in a forward pass, written down by the network itself and not by ockham's observation.
struct TracedUse {
  size_t parameter = 0;
  bool bias = false;
  bool gradient_left = true;  // the weight is flattened [gradient side][input side], per group
  at::Tensor inputs;          // a [G, N, S, D] of a weight
  at::Tensor output;          // of the layer, in the graph
  std::function<at::Tensor(const at::Tensor& gradient)> gradient_rows;  // g [G, N, S, D'] from the output's gradient
};
using Trace = std::vector<TracedUse>;

struct RandomModel {
  Model model;
  Dataset data;
  std::function<at::Tensor(const at::Tensor& inputs, Trace& trace)> traced_forward;
  /// Parameters of the groups, for the prior of groups and the blocks of the block structure; empty otherwise.
  std::vector<std::vector<size_t>> blocks;
};

/// The values are those of float32 in every type, so that both types make the same model.
RandomModel make_model(const RandomCase& random, bool float32);

}  // namespace ockham::properties
