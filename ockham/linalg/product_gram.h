// Gram matrices of rows that are products, Φ_nk = l_nk ⊗ r_n: sums over k come first, pairs of factors that differ in
// their order only are multiplied once, and examples in which a factor is zero are left out where they are many.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ockham {

/// Some columns of the rows Φ_nk: left_nki right_na, by i and then by a, from the column `products` on, and left_nki
/// from `lefts` on. Both tensors float32 or float64.
struct ProductColumns {
  at::Tensor left;   // [n, k, o]
  at::Tensor right;  // [n, d]
  int64_t products, lefts;
};

/// Σ_nk Φ_nk Φ_nkᵀ, symmetric float64 [width, width]; the parts have all columns. Two parts meet in
/// Σ_n (Σ_k l_nk l'_nkᵀ) ⊗ ([r_n, 1] [r'_n, 1]ᵀ). One BLAS thread; two threads share the work where this thread may use
/// them.
at::Tensor gram_of_products(const std::vector<ProductColumns>& parts, int64_t width);

}  // namespace ockham
