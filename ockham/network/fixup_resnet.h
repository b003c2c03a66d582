// Residual networks without normalisation (Fixup): scalar biases and scales instead of batch norm.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ockham/network/network.h"

namespace ockham {

struct FixupResNetOptions {
  int64_t depth = 20;  // 6 n + 2, n blocks in each of the three stages
  int64_t width = 16;  // channels of the first stage; the others have two and four times as many
};

/// conv 3×3 + b → ReLU → 3 stages of n blocks → mean over the image + b → linear. A block is
/// relu(x + b2b + scale · conv2(b2a + relu(b1b + conv1(x + b1a)))); the first one of the second and third stage halves
/// the image, and its shortcut takes every second pixel and fills the new channels with zeros. For images [C, H, W]; P
/// = 268,393 for depth 20, width 16, three channels and ten outputs. Initialised as Fixup says: conv1 scaled by (3
/// n)^-½, conv2 and the last layer zero.
Network make_fixup_resnet(const FixupResNetOptions& options, const std::vector<int64_t>& input_shape, int64_t outputs,
                          at::ScalarType dtype, uint64_t seed);

}  // namespace ockham
