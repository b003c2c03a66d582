// The inverse of a triangular matrix by halves, at the speed of matrix products: LAPACK's own is two to four times
// slower. With L = [L₁₁ 0; L₂₁ L₂₂] it is L⁻¹ = [L₁₁⁻¹ 0; -L₂₂⁻¹ L₂₁ L₁₁⁻¹  L₂₂⁻¹].
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

/// L⁻¹ of a lower triangular float64 [n, n] without zeros on its diagonal; what is above the diagonal is not read, and
/// is zero in the result, which is stored by columns.
at::Tensor triangular_inverse(const at::Tensor& lower);

/// Above this size column norms are made some columns at a time: a second matrix of that size may not fit.
constexpr int64_t kLargestInverse = 4096;

/// Σ_i (L⁻¹)_ij² for every column j, [n].
at::Tensor triangular_inverse_column_norms(const at::Tensor& lower, int64_t largest_inverse = kLargestInverse);

/// The same of a matrix stored by columns, [n, n] contiguous with a column in each row, from the diagonal down.
at::Tensor column_norms_below(const at::Tensor& columns);

}  // namespace ockham
