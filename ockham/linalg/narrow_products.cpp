#include "ockham/linalg/narrow_products.h"

#include <algorithm>
#include <cstring>

#if defined(__GNUC__) && defined(__x86_64__)
#define OCKHAM_HAS_NARROW_PRODUCTS 1
#else
#define OCKHAM_HAS_NARROW_PRODUCTS 0
#endif

namespace ockham {

#if OCKHAM_HAS_NARROW_PRODUCTS
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kTileHeight = 8, kTileVectors = 3;  // 24 of the 32 vector registers hold sums
constexpr int64_t kCacheFloats = 4096;                // of the operands' rows at once: half of the first-level cache
constexpr int64_t kWidestTriangle = 160, kWidestSquare = 96;  // beyond these the BLAS is as fast

typedef float Floats __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));
typedef int32_t Integers __attribute__((vector_size(kLanes * sizeof(int32_t)), aligned(4)));
constexpr Integers kIndices = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// Entries [kTileHeight, vectors · kLanes] of the result; in row i those up to column last + i.
template <int vectors>
__attribute__((target("avx512f"), always_inline)) inline void add_tile(float* result, int64_t width, const float* left,
                                                                       const float* right, int64_t rows, int64_t stride,
                                                                       int64_t last) {
  // From zero, so that the result, which may be large, loses no more than one rounding for each piece of the rows.
  Floats sums[kTileHeight][vectors] = {};
  for (int64_t k = 0; k < rows; ++k, left += stride, right += stride) {
    Floats other[vectors];
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) std::memcpy(&other[v], right + v * kLanes, sizeof(Floats));
#pragma GCC unroll 8
    for (int i = 0; i < kTileHeight; ++i)
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) sums[i][v] += left[i] * other[v];
  }
#pragma GCC unroll 8
  for (int i = 0; i < kTileHeight; ++i) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      float* to = result + i * width + v * kLanes;
      Floats total;
      std::memcpy(&total, to, sizeof(Floats));
      const Integers kept = kIndices <= static_cast<int32_t>(last + i - v * kLanes);
      total += kept ? sums[i][v] : Floats{};
      std::memcpy(to, &total, sizeof(Floats));
    }
  }
}

__attribute__((target("avx512f"))) void add_rows(float* result, const float* left, const float* right, int64_t rows,
                                                 int64_t n, int64_t stride, bool lower_only) {
  for (int64_t i = 0; i < n; i += kTileHeight) {
    const int64_t columns = lower_only ? (i + kTileHeight + kLanes - 1) / kLanes * kLanes : n;
    const auto last = [&](int64_t j) { return lower_only ? i - j : n; };
    int64_t j = 0;
    for (; j + kTileVectors * kLanes <= columns; j += kTileVectors * kLanes)
      add_tile<3>(result + i * n + j, n, left + i, right + j, rows, stride, last(j));
    if (columns - j == 2 * kLanes)
      add_tile<2>(result + i * n + j, n, left + i, right + j, rows, stride, last(j));
    else if (columns - j == kLanes)
      add_tile<1>(result + i * n + j, n, left + i, right + j, rows, stride, last(j));
  }
}

}  // namespace

bool narrow_product_pays(int64_t columns, bool lower_only) {
  static const bool wide_vectors = __builtin_cpu_supports("avx512f");
  return wide_vectors && columns > 0 && columns % kLanes == 0 &&
         columns <= (lower_only ? kWidestTriangle : kWidestSquare);
}

void add_narrow_product(float* result, const float* left, const float* right, int64_t rows, int64_t n, int64_t stride,
                        bool lower_only) {
  const int64_t piece = std::max<int64_t>(16, kCacheFloats / n);
  for (int64_t first = 0; first < rows; first += piece)
    add_rows(result, left + first * stride, right + first * stride, std::min(piece, rows - first), n, stride,
             lower_only);
}

#else

bool narrow_product_pays(int64_t, bool) { return false; }
void add_narrow_product(float*, const float*, const float*, int64_t, int64_t, int64_t, bool) {}

#endif

}  // namespace ockham
