#include "ockham/curvature/dense_memory.h"

#include <algorithm>

#include "ockham/linalg/triangular_inverse.h"

namespace ockham {

int64_t dense_block_bytes(const DenseSize& size, bool rows, bool jacobian) {
  constexpr int64_t number = sizeof(double);
  const int64_t count = size.examples * size.columns, copies = 1 + size.derivatives;
  const int64_t stored = jacobian ? size.examples * size.outputs * size.weights * number : 0;
  if (rows && !(jacobian && count >= size.weights)) {
    const int64_t grams = copies * std::min(size.parameters * count, std::max(count, 4 * size.weights));
    return stored + number * count * (size.weights * copies + grams + 2 * count);
  }
  const int64_t factorised = size.weights > kLargestInverse ? copies : 5;
  return stored + number * size.weights * size.weights * (factorised + copies);
}

int64_t least_dense_block_bytes(const DenseSize& size) {
  const int64_t matrix = dense_block_bytes(size, false, false);
  if (size.examples * size.columns >= size.weights) return matrix;
  return std::min(matrix, dense_block_bytes(size, true, false));
}

}  // namespace ockham
