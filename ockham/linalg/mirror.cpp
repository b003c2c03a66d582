#include "ockham/linalg/mirror.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/linalg/halves.h"

namespace ockham {
namespace {

constexpr int64_t kHalves = 256;  // below this a second thread costs more than it saves

// Column by column of the lower triangle, a cache line's worth of them at once: what is read is used whole, and what is
// written are a few rows from left to right.
template <class Visit>
void visit_columns(int64_t first, int64_t last, int64_t n, int64_t at_once, const Visit& visit) {
  for (int64_t column = first; column < last; column += at_once) {
    for (int64_t i = column; i < n; ++i) {
      const int64_t end = std::min({column + at_once, i + 1, last});
      for (int64_t j = column; j < end; ++j) visit(i, j);
    }
  }
}

template <class Visit>
void visit_lower(int64_t n, int64_t at_once, const Visit& visit) {
  if (n < kHalves) return visit_columns(0, n, n, at_once, visit);
  // (1 - 1/√2) n columns on the left have half of the entries.
  const int64_t left = static_cast<int64_t>(0.29 * static_cast<double>(n)) / at_once * at_once;
  run_in_halves({[&](int half) { visit_columns(half == 0 ? 0 : left, half == 0 ? left : n, n, at_once, visit); }});
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

at::Tensor scaled_copy(const at::Tensor& matrix, double factor) {
  const at::Tensor from = matrix.contiguous(), copy = at::empty(matrix.sizes(), at::kDouble);
  const double* values = from.data_ptr<double>();
  double* to = copy.data_ptr<double>();
  const int64_t count = copy.numel(), half_count = count / 2;
  const Phase scale = [=](int half) {
    for (int64_t i = half == 0 ? 0 : half_count, end = half == 0 ? half_count : count; i < end; ++i)
      to[i] = factor * values[i];
  };
  if (matrix.size(0) >= kHalves)
    run_in_halves({scale});
  else
    scale(0), scale(1);
  return copy;
}

}  // namespace ockham
