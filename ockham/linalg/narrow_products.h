// Private to linalg/: products of tall, narrow matrices of float32, where the BLAS spends more time arranging its
// operands than multiplying.
#pragma once

#include <cstdint>

namespace ockham {

/// Sizes and a processor for which `add_narrow_product` is the faster way.
bool narrow_product_pays(int64_t columns, bool lower_only);

/// result [n, n] += leftᵀ right for left and right [rows, n], by rows, `stride` apart; n a multiple of 16. With
/// `lower_only` entries right of the diagonal are left alone.
void add_narrow_product(float* result, const float* left, const float* right, int64_t rows, int64_t n, int64_t stride,
                        bool lower_only);

}  // namespace ockham
