// Cholesky factors of positive definite matrices: log determinant, inverse, solves. One BLAS thread below n = 1000.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

/// Lower factor of a symmetric float64 [n, n], stored by columns; throws Error(numerical) naming `what` when it is not
/// positive definite or not finite.
at::Tensor cholesky(const at::Tensor& matrix, const char* what);
/// The same in the memory of `matrix` when that is contiguous; its values are lost.
at::Tensor cholesky_in_place(at::Tensor matrix, const char* what);
struct FactorAndDiagonal {
  at::Tensor factor;            // L [n, n], lower, stored by columns
  at::Tensor inverse_diagonal;  // of (L Lᵀ)⁻¹ [n]: the squared norms of the columns of L⁻¹
};
/// Both together, in the memory of `matrix` when that is contiguous: faster than one after the other.
FactorAndDiagonal cholesky_and_inverse_diagonal(at::Tensor matrix, const char* what);
double log_determinant_of_factor(const at::Tensor& factor);
/// L⁻¹ x and L⁻ᵀ x for every row x of `rows` [m, n], in its place in the result; L is not copied when it is stored by
/// columns.
at::Tensor solve_lower(const at::Tensor& factor, const at::Tensor& rows);
at::Tensor solve_lower_transposed(const at::Tensor& factor, const at::Tensor& rows);
at::Tensor inverse_from_factor(const at::Tensor& factor);  // symmetric [n, n]
/// diag((L Lᵀ)⁻¹) [n], the squared norms of the columns of L⁻¹: half the work of the inverse.
at::Tensor inverse_diagonal_from_factor(const at::Tensor& factor);

}  // namespace ockham
