#include "ockham/linalg/factorise_and_invert.h"

#include <algorithm>
#include <cstdint>

#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"
#include "ockham/linalg/halves.h"

namespace ockham {
namespace {

constexpr int kLeaf = 40;              // 24 to 64 are within 5 % of each other at n = 500
constexpr int kHalvesOnThreads = 200;  // below this a second thread costs more than it saves

/// A piece of the two matrices, on the diagonal.
struct Pair {
  double* matrix;
  double* inverse;
  int n, stride;

  // Rows of products come in eights where they can: what is left over takes the BLAS longer (5 % of the whole).
  int second() const { return n / 16 * 8; }
  int first() const { return n - second(); }
  double* corner(double* values) const { return values + first(); }  // of the square below the first half
  Pair upper_left() const { return {matrix, inverse, first(), stride}; }
  Pair lower_right() const {
    const int64_t offset = static_cast<int64_t>(first()) * (stride + 1);
    return {matrix + offset, inverse + offset, second(), stride};
  }

  // Some rows of L₂₁ := A₂₁ L₁₁⁻ᵀ; and a copy of them times -L₁₁⁻¹ to (L⁻¹)₂₁.
  void reach_down(int row, int count) const {
    const double one = 1, minus = -1;
    const int width = first();
    double* values = corner(matrix) + row;
    double* target = corner(inverse) + row;
    dtrmm_("R", "L", "T", "N", &count, &width, &one, inverse, &stride, values, &stride);
    for (int64_t j = 0; j < width; ++j) std::copy_n(values + j * stride, count, target + j * stride);
    dtrmm_("R", "L", "N", "N", &count, &width, &minus, inverse, &stride, target, &stride);
  }
  // A₂₂ -= L₂₁ L₂₁ᵀ.
  void subtract() const {
    const double one = 1, minus = -1;
    const int width = first(), size = second();
    dsyrk_("L", "N", &size, &width, &minus, corner(matrix), &stride, &one, lower_right().matrix, &stride);
  }
  // The same on one of its two triangles, and on half of the square between them.
  void subtract_half(int half) const {
    const double one = 1, minus = -1;
    const TriangleHalves halves(second());
    const int width = first(), top = static_cast<int>(halves.top), bottom = static_cast<int>(halves.bottom),
              middle = static_cast<int>(halves.middle);
    const int size = half == 0 ? top : bottom, from = half == 0 ? 0 : top;
    double* rows = corner(matrix);
    double* rest = lower_right().matrix;
    dsyrk_("L", "N", &size, &width, &minus, rows + from, &stride, &one,
           rest + static_cast<int64_t>(from) * (stride + 1), &stride);
    const int row = top + (half == 0 ? 0 : middle), count = half == 0 ? middle : bottom - middle;
    dgemm_("N", "T", &count, &top, &width, &minus, rows + row, &stride, rows, &stride, &one, rest + row, &stride);
  }
  // Some columns of (L⁻¹)₂₁ := L₂₂⁻¹ (L⁻¹)₂₁.
  void multiply_left(int column, int count) const {
    const double one = 1;
    const int height = second();
    dtrmm_("L", "L", "N", "N", &height, &count, &one, lower_right().inverse, &stride,
           corner(inverse) + static_cast<int64_t>(column) * stride, &stride);
  }
};

int factorise_leaf(const Pair& pair) {
  int minor = 0, info = 0;
  dpotrf_("L", &pair.n, pair.matrix, &pair.stride, &minor);
  if (minor != 0) return minor;
  for (int64_t j = 0; j < pair.n; ++j)
    std::copy_n(pair.matrix + j * (pair.stride + 1), pair.n - j, pair.inverse + j * (pair.stride + 1));
  dtrtri_("L", "N", &pair.n, pair.inverse, &pair.stride, &info);
  return 0;
}

int factorise(const Pair& pair) {
  if (pair.n <= kLeaf) return factorise_leaf(pair);
  const bool on_threads = pair.n >= kHalvesOnThreads && allowed_threads() > 1;
  const int first = pair.first(), second = pair.second();
  if (const int minor = factorise(pair.upper_left()); minor != 0) return minor;
  const int rows = (second / 2 + 7) / 8 * 8, columns = (first / 2 + 7) / 8 * 8;
  if (on_threads) {
    run_in_halves({[&](int half) { pair.reach_down(half == 0 ? 0 : rows, half == 0 ? rows : second - rows); },
                   [&](int half) { pair.subtract_half(half); }});
  } else {
    pair.reach_down(0, second);
    pair.subtract();
  }
  if (const int minor = factorise(pair.lower_right()); minor != 0) return first + minor;
  if (on_threads) {
    run_in_halves(
        {[&](int half) { pair.multiply_left(half == 0 ? 0 : columns, half == 0 ? columns : first - columns); }});
  } else {
    pair.multiply_left(0, first);
  }
  return 0;
}

}  // namespace

int factorise_and_invert(double* columns, double* inverse, int n) {
  const SingleBlasThread single;
  return factorise({columns, inverse, n, std::max(n, 1)});
}

}  // namespace ockham
