// The paper's standard CNN, DeepOBS's 3c3d: three convolutions and three dense layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ockham/network/network.h"

namespace ockham {

/// conv 5×5, 64 → conv 3×3, 96 → conv 3×3, 128 (padded to keep its size), each with ReLU and 3×3 max pooling of stride
/// 2 that rounds sizes up; then dense 512 → 256 → outputs. For images [C, H, W]; P = 895,210 for [3, 32, 32] and
/// 892,010 for [1, 28, 28] with ten outputs.
Network make_3c3d(const std::vector<int64_t>& input_shape, int64_t outputs, at::ScalarType dtype, uint64_t seed);

}  // namespace ockham
