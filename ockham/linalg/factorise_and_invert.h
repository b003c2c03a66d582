// Private to linalg/: L and L⁻¹ of A = L Lᵀ together, all by matrix products.
#pragma once

namespace ockham {

/// Overwrites the lower triangle of a symmetric n × n matrix, stored by columns, with its factor L, and that of
/// `inverse` with L⁻¹; the upper ones are left alone. By halves: L₁₁ and L₁₁⁻¹; L₂₁ = A₂₁ L₁₁⁻ᵀ; L₂₂ and L₂₂⁻¹ of
/// A₂₂ - L₂₁ L₂₁ᵀ; (L⁻¹)₂₁ = -L₂₂⁻¹ L₂₁ L₁₁⁻¹. Products with L₁₁⁻ᵀ in place of solves are faster, and as good as the
/// condition of L₁₁, the root of that of A, allows. Returns 0, or the order of the leading minor that is not positive.
/// One BLAS thread; two threads share the larger products where this thread may use them: the last bits then differ.
int factorise_and_invert(double* columns, double* inverse, int n);

}  // namespace ockham
