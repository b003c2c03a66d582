// What an exact block of the curvature takes in memory, known before anything is computed.
#pragma once

#include <cstdint>

namespace ockham {

struct DenseSize {
  int64_t weights = 0;      // p
  int64_t parameters = 0;   // tensors they are in: at most so many Gram matrices
  int64_t examples = 0;     // N
  int64_t columns = 0;      // K of the output root: N·K rows
  int64_t outputs = 0;      // C
  int64_t derivatives = 0;  // M root hyperparameters
};

/// Bytes of the block's values and of their decomposition, at most, in float64. As a matrix [p, p]: the sum, its
/// derivatives, a factor, and up to kLargestInverse (linalg/triangular_inverse.h) an inverse or the parts of a Schur
/// complement. By rows [N·K, p]: the rows, a Gram matrix for each group of precisions (no more than 4 p columns of
/// them), their sum and its inverse. With `jacobian`, J [N·C, p] beside it.
int64_t dense_block_bytes(const DenseSize& size, bool rows, bool jacobian);

/// Without which no form fits: by rows where there are fewer of them than weights, or as a matrix if that is less.
int64_t least_dense_block_bytes(const DenseSize& size);

}  // namespace ockham
