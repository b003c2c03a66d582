#include "ockham/linalg/triangular_inverse.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"
#include "ockham/linalg/halves.h"

namespace ockham {
namespace {

constexpr int kLeaf = 32;               // 16 to 64 are within 5 % of each other at n = 500
constexpr int kHalvesInParallel = 256;  // below this a second thread costs more than it saves ...
constexpr int kThreadedBlas = 1000;     // ... and from this on the BLAS divides the products better

/// A lower triangular matrix by columns, inverted in place.
struct Triangle {
  double* values;
  int n, stride;

  int first() const { return (n / 2 + 7) / 8 * 8; }
  int second() const { return n - first(); }
  double* corner() const { return values + first(); }
  Triangle upper_left() const { return {values, first(), stride}; }
  Triangle lower_right() const { return {corner() + static_cast<int64_t>(first()) * stride, second(), stride}; }

  // Some rows of L₂₁ := -L₂₁ L₁₁⁻¹; the triangle's first half is inverted already.
  void multiply_right(int row, int count) const {
    const double minus = -1;
    const int width = first();
    dtrmm_("R", "L", "N", "N", &count, &width, &minus, values, &stride, corner() + row, &stride);
  }
  // Some columns of L₂₁ := L₂₂⁻¹ L₂₁; the second half is inverted already.
  void multiply_left(int column, int count) const {
    const double one = 1;
    const int height = second();
    dtrmm_("L", "L", "N", "N", &height, &count, &one, lower_right().values, &stride,
           corner() + static_cast<int64_t>(column) * stride, &stride);
  }
};

void invert(const Triangle& triangle) {
  if (triangle.n <= kLeaf) {
    int info = 0;
    dtrtri_("L", "N", &triangle.n, triangle.values, &triangle.stride, &info);
    return;
  }
  invert(triangle.upper_left());
  invert(triangle.lower_right());
  triangle.multiply_right(0, triangle.second());
  triangle.multiply_left(0, triangle.first());
}

// Always in the same pieces, so that the result does not depend on the number of threads.
void invert_in_halves(const Triangle& triangle) {
  const int rows = triangle.second() / 16 * 8, columns = triangle.first() / 16 * 8;
  run_in_halves({
      [&](int half) { invert(half == 0 ? triangle.upper_left() : triangle.lower_right()); },
      [&](int half) { triangle.multiply_right(half == 0 ? 0 : rows, half == 0 ? rows : triangle.second() - rows); },
      [&](int half) {
        triangle.multiply_left(half == 0 ? 0 : columns, half == 0 ? columns : triangle.first() - columns);
      },
  });
}

/// L⁻¹ by columns; what is above the diagonal is not set.
at::Tensor inverted_columns(const at::Tensor& lower) {
  const int64_t n = lower.size(0);
  const at::Tensor from = lower.detach().t().contiguous(), columns = at::empty({n, n}, at::kDouble);
  for (int64_t j = 0; j < n; ++j) {
    std::copy_n(from.data_ptr<double>() + j * (n + 1), n - j, columns.data_ptr<double>() + j * (n + 1));
  }
  const Triangle triangle{columns.data_ptr<double>(), static_cast<int>(n), std::max(static_cast<int>(n), 1)};
  std::optional<SingleBlasThread> single;
  if (n < kThreadedBlas) single.emplace();
  if (n >= kHalvesInParallel && n < kThreadedBlas) {
    invert_in_halves(triangle);
  } else {
    invert(triangle);
  }
  return columns;
}

}  // namespace

at::Tensor triangular_inverse(const at::Tensor& lower) {
  const at::Tensor columns = inverted_columns(lower);
  double* values = columns.data_ptr<double>();
  for (int64_t j = 1, n = lower.size(0); j < n; ++j) std::fill_n(values + j * n, j, 0.0);
  return columns.t();
}

at::Tensor column_norms_below(const at::Tensor& columns) {
  const int64_t n = columns.size(0);
  const at::Tensor norms = at::empty({n}, at::kDouble);
  const double* values = columns.data_ptr<double>();
  double* norm = norms.data_ptr<double>();
  const auto sum_squares = [=](int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) {
      const double* column = values + j * (n + 1);  // from the diagonal down
      const int length = static_cast<int>(n - j), stride = 1;
      norm[j] = ddot_(&length, column, &stride, column, &stride);
    }
  };
  // (1 - 1/√2) n columns on the left have half of the entries.
  const int64_t left = static_cast<int64_t>(0.29 * static_cast<double>(n));
  if (n >= kHalvesInParallel)
    run_in_halves({[&](int half) { sum_squares(half == 0 ? 0 : left, half == 0 ? left : n); }});
  else
    sum_squares(0, n);
  return norms;
}

at::Tensor triangular_inverse_column_norms(const at::Tensor& lower, int64_t largest_inverse) {
  if (lower.size(0) <= largest_inverse) return column_norms_below(inverted_columns(lower));
  // Columns j … of L⁻¹ are zero above row j, so the triangle below j gives them: as much work as the whole inverse.
  constexpr int64_t kColumnsAtOnce = 256;
  const int64_t n = lower.size(0);
  const at::Tensor columns = lower.detach().t().contiguous(), norms = at::empty({n}, at::kDouble);
  const double one = 1;
  const int stride = static_cast<int>(n);
  for (int64_t first = 0; first < n; first += kColumnsAtOnce) {
    const int64_t rows = n - first, count = std::min(kColumnsAtOnce, rows);
    at::Tensor some = at::zeros({count, rows}, at::kDouble);  // a column in each row
    some.diagonal().fill_(1);
    const int m = static_cast<int>(rows), k = static_cast<int>(count);
    dtrsm_("L", "L", "N", "N", &m, &k, &one, columns.data_ptr<double>() + first * (n + 1), &stride,
           some.data_ptr<double>(), &m);
    norms.narrow(0, first, count).copy_(some.square_().sum(1));
  }
  return norms;
}

}  // namespace ockham
