#include "ockham/linalg/narrow_products.h"

#include <algorithm>
#include <cstring>

namespace ockham {

#if defined(__GNUC__) && defined(__x86_64__)
namespace {

#define OCKHAM_WIDE_VECTORS __attribute__((target("avx512f")))
#define OCKHAM_WIDE_VECTORS_INLINE __attribute__((target("avx512f"), always_inline)) inline

constexpr int64_t kLanes = 16;
constexpr int64_t kTileHeight = 8, kTileVectors = 3;  // 24 of the 32 vector registers hold sums
constexpr int64_t kCacheFloats = 4096;                // of the operands' rows at once: half of the first-level cache
constexpr int64_t kWidestTriangle = 192, kWidestSquare = 192;  // beyond these the BLAS is as fast

typedef float Floats __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));
typedef int32_t Integers __attribute__((vector_size(kLanes * sizeof(int32_t)), aligned(4)));
constexpr Integers kIndices = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

bool has_wide_vectors() {
  static const bool has = __builtin_cpu_supports("avx512f");
  return has;
}

/// The matrices from row k, and from columns i and j on.
TallMatrices part(const TallMatrices& of, int64_t first_row, int64_t rows, int64_t i, int64_t j) {
  return {of.left + first_row * of.left_stride + i, of.left_stride, of.right + first_row * of.right_stride + j,
          of.right_stride, rows};
}

/// Entries [kTileHeight, vectors · kLanes] of leftᵀ right, or their squares, added to a result whose rows are `stride`
/// apart; in row i those up to column last + i.
template <int vectors, bool squared>
OCKHAM_WIDE_VECTORS_INLINE void add_tile(float* result, int64_t stride, const TallStack& stack, int64_t last) {
  // From zero, so that the result, which may be large, loses no more than one rounding for each piece of the rows.
  Floats sums[kTileHeight][vectors] = {};
  for (int64_t m = 0; m < stack.count; ++m) {
    const float* left = stack.first.left + m * stack.left_step;
    const float* right = stack.first.right + m * stack.right_step;
    for (int64_t k = 0; k < stack.first.rows; ++k, left += stack.first.left_stride, right += stack.first.right_stride) {
      Floats other[vectors];
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) std::memcpy(&other[v], right + v * kLanes, sizeof(Floats));
#pragma GCC unroll 8
      for (int i = 0; i < kTileHeight; ++i)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; ++v) sums[i][v] += left[i] * other[v];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kTileHeight; ++i) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      float* to = result + i * stride + v * kLanes;
      Floats total;
      std::memcpy(&total, to, sizeof(Floats));
      const Integers kept = kIndices <= static_cast<int32_t>(last + i - v * kLanes);
      total += kept ? (squared ? sums[i][v] * sums[i][v] : sums[i][v]) : Floats{};
      std::memcpy(to, &total, sizeof(Floats));
    }
  }
}

/// Up to kTileVectors vectors of columns.
template <bool squared>
OCKHAM_WIDE_VECTORS void add_tile(float* result, int64_t stride, const TallStack& stack, int64_t last,
                                  int64_t columns) {
  if (columns >= kTileVectors * kLanes)
    add_tile<3, squared>(result, stride, stack, last);
  else if (columns == 2 * kLanes)
    add_tile<2, squared>(result, stride, stack, last);
  else
    add_tile<1, squared>(result, stride, stack, last);
}

template <bool squared>
void add_stack(float* sum, int64_t sum_stride, const TallStack& stack, int64_t p, int64_t q) {
  TallStack tile = stack;
  for (int64_t j = 0; j < q; j += kTileVectors * kLanes) {
    for (int64_t i = 0; i < p; i += kTileHeight) {
      tile.first = part(stack.first, 0, stack.first.rows, i, j);
      add_tile<squared>(sum + i * sum_stride + j, sum_stride, tile, q, q - j);
    }
  }
}

}  // namespace

bool narrow_product_pays(int64_t n, bool lower_only) {
  return has_wide_vectors() && n > 0 && n % kLanes == 0 && n <= (lower_only ? kWidestTriangle : kWidestSquare);
}

void add_narrow_product(float* result, const TallMatrices& matrices, int64_t n, bool lower_only) {
  const int64_t piece = std::max<int64_t>(16, kCacheFloats / n);
  for (int64_t first = 0; first < matrices.rows; first += piece) {
    const int64_t rows = std::min(piece, matrices.rows - first);
    for (int64_t i = 0; i < n; i += kTileHeight) {
      const int64_t columns = lower_only ? (i + kTileHeight + kLanes - 1) / kLanes * kLanes : n;
      for (int64_t j = 0; j < columns; j += kTileVectors * kLanes)
        add_tile<false>(result + i * n + j, n, {part(matrices, first, rows, i, j)}, lower_only ? i - j : n,
                        columns - j);
    }
  }
}

bool has_stacked_product(int64_t p, int64_t q) {
  return has_wide_vectors() && p > 0 && p % kTileHeight == 0 && q > 0 && q % kLanes == 0;
}

void add_stacked_product(float* sum, int64_t sum_stride, const TallStack& stack, int64_t p, int64_t q) {
  add_stack<false>(sum, sum_stride, stack, p, q);
}

void add_squared_product(float* sum, int64_t sum_stride, const TallStack& stack, int64_t p, int64_t q) {
  add_stack<true>(sum, sum_stride, stack, p, q);
}

#else

bool narrow_product_pays(int64_t, bool) { return false; }
void add_narrow_product(float*, const TallMatrices&, int64_t, bool) {}
bool has_stacked_product(int64_t, int64_t) { return false; }
void add_stacked_product(float*, int64_t, const TallStack&, int64_t, int64_t) {}
void add_squared_product(float*, int64_t, const TallStack&, int64_t, int64_t) {}

#endif

}  // namespace ockham
