// Rows that are products, Φ_{n,(i,j)} = left_{n,i} right_{n,j}: what needs ΦΦᵀ = (left leftᵀ) ∘ (right rightᵀ) needs no
// Φ.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ockham {

struct ProductRows {
  at::Tensor left, right;  // [m, a], [m, b], float64
};

/// log|M|, tr(M⁻¹) and Σ_c (L⁻¹ x_c)² for each column x_c, with M = I + Σ_p Φ_p Φ_pᵀ = L Lᵀ.
struct WhitenedColumns {
  double log_determinant = 0, inverse_trace = 0;
  at::Tensor squared_norms;  // [c]
};

/// `columns` [m, c] float64; parts with the same `left` share its product. One BLAS thread; two threads share the work
/// where this thread may use them. An undefined `squared_norms` says that M is not finite.
WhitenedColumns whiten_columns(const std::vector<ProductRows>& parts, const at::Tensor& columns);

}  // namespace ockham
