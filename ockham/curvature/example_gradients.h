// Private to curvature/: exact per-example gradients by plain autograd, one example at a time. The way of last resort.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ockham/network/network.h"

namespace ockham {

/// For columns V [N, C, K]: the gradients of Σ_c f_c V_ck with respect to the given parameters, one [N, K, p] each, in
/// the network's type. Costs N forward and N·K backward passes.
std::vector<at::Tensor> example_gradients(const Network& network, const at::Tensor& inputs, const at::Tensor& columns,
                                          const std::vector<size_t>& parameters);

}  // namespace ockham
