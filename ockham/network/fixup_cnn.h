// The paper's family of plain CNNs without normalisation (Fixup), by width and depth: for choosing an architecture.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ockham/network/network.h"

namespace ockham {

struct FixupCnnOptions {
  int64_t width = 16;  // channels of the first convolution; each later one has twice as many. The paper: 2 to 64
  int64_t depth = 3;   // blocks; the paper: 1 to 5
};

/// Blocks of relu(scale · conv3×3(x + b1) + b2), from the second block on followed by 2×2 max pooling; then mean
/// pooling to a small grid and one linear layer. The convolutions keep the image's size and have a bias per channel;
/// b1, b2 and the scale are one scalar each. For images [C, H, W] with both sides at least 2^(depth-1).
///
/// The grid is 4×4, 3×3, 2×2, 2×1, 1×1 for depth 1, 2, 3, 4, 5 (1×1 beyond, and never larger than the image): the only
/// one that agrees with the parameter counts of the paper's tables, for every width, number of channels and of
/// classes. Where its text is silent: how features reach that grid (here by their mean), where Fixup's scalars stand,
/// and what the rest of its counts are: they exceed P here by 39 for every block and 16 once. Its tables exceed the
/// counts of its own text for MLPs and ResNets in the same way, so these are no weights that the text describes.
///
/// Initialised as Fixup says for a network without residual branches: weights N(0, 2/(9·out)), biases 0, scales 1, the
/// last layer 0.
Network make_fixup_cnn(const FixupCnnOptions& options, const std::vector<int64_t>& input_shape, int64_t outputs,
                       at::ScalarType dtype, uint64_t seed);

}  // namespace ockham
