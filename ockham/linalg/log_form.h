// The corner of a matrix logarithm, e₁ᵀ log(T) e₁: what Gauss quadrature makes of zᵀ log(A) z / zᵀz when T comes from
// Lanczos steps that start at z.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

struct LogForm {
  double value = 0;
  /// Γ [m, m], symmetric: the value changes by Σ_ij Γ_ij dT_ij when T does; undefined unless asked for.
  at::Tensor gradient;
};

/// T [m, m] symmetric float64. With T = U diag(θ) Uᵀ and u = Uᵀe₁: Σ_i u_i² log θ_i, and Γ = U (u uᵀ ∘ L) Uᵀ with
/// L_ij = (log θ_i - log θ_j) / (θ_i - θ_j), L_ii = 1/θ_i. Throws Error(numerical) when T is not positive definite.
LogForm log_form(const at::Tensor& matrix, bool gradient);

}  // namespace ockham
