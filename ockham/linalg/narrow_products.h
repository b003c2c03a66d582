// Private to linalg/: products of tall, narrow matrices of float32, where the BLAS spends more time arranging its
// operands than multiplying. For processors with AVX-512; the callers leave the others to the BLAS.
#pragma once

#include <cstdint>

namespace ockham {

/// left [rows, p] and right [rows, q], by rows, their rows some numbers apart; rows of `right` may overlap in memory.
struct TallMatrices {
  const float* left;
  int64_t left_stride;
  const float* right;
  int64_t right_stride;
  int64_t rows;
};
/// Several such in a row, each some numbers after the one before, seen as one.
struct TallStack {
  TallMatrices first;
  int64_t count = 1, left_step = 0, right_step = 0;
};

/// Sizes and a processor for which `add_narrow_product` is the faster way.
bool narrow_product_pays(int64_t n, bool lower_only);

/// result [n, n] += leftᵀ right, p = q = n a multiple of 16. With `lower_only` entries right of the diagonal are left
/// alone.
void add_narrow_product(float* result, const TallMatrices& matrices, int64_t n, bool lower_only);

/// Sizes and a processor for which the two below work: p a multiple of 8, q of 16.
bool has_stacked_product(int64_t p, int64_t q);

/// sum [p, q] += leftᵀ right; rows of the sum are `sum_stride` numbers apart.
void add_stacked_product(float* sum, int64_t sum_stride, const TallStack& stack, int64_t p, int64_t q);
/// sum [p, q] += (leftᵀ right)², elementwise.
void add_squared_product(float* sum, int64_t sum_stride, const TallStack& stack, int64_t p, int64_t q);

}  // namespace ockham
