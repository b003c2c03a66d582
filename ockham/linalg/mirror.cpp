#include "ockham/linalg/mirror.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ockham {
namespace {

// Column by column of the lower triangle, a cache line's worth of them at once: what is read is used whole, and what is
// written are a few rows from left to right.
template <class Visit>
void visit_lower(int64_t n, int64_t at_once, const Visit& visit) {
  for (int64_t column = 0; column < n; column += at_once) {
    for (int64_t i = column; i < n; ++i) {
      const int64_t end = std::min(column + at_once, i + 1);
      for (int64_t j = column; j < end; ++j) visit(i, j);
    }
  }
}

}  // namespace

// In place: a transposed copy would double the memory.
void mirror_lower(at::Tensor& matrix) {
  const int64_t by_row = matrix.stride(0), by_column = matrix.stride(1);
  double* values = matrix.data_ptr<double>();
  visit_lower(matrix.size(0), 8,
              [=](int64_t i, int64_t j) { values[j * by_row + i * by_column] = values[i * by_row + j * by_column]; });
}

at::Tensor symmetric_from_lower(const at::Tensor& lower) {
  const int64_t n = lower.size(0);
  at::Tensor matrix = at::empty({n, n}, at::kDouble);
  const float* from = lower.data_ptr<float>();
  double* to = matrix.data_ptr<double>();
  visit_lower(n, 16, [=](int64_t i, int64_t j) {
    const double value = static_cast<double>(from[i * n + j]);
    to[i * n + j] = value;
    to[j * n + i] = value;
  });
  return matrix;
}

}  // namespace ockham
