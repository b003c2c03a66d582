// The precision that governs most weights of a block, and the weights outside it.
#pragma once

#include <ATen/core/Tensor.h>

#include "ockham/curvature/decomposed_span.h"

namespace ockham {

struct Majority {
  int64_t group = -1;     // -1: the block has parameters with many precisions
  at::Tensor main, rest;  // indices of weights within the block, ascending
};

Majority majority_group(const BlockSpan& span);

}  // namespace ockham
