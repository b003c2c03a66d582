// Private to curvature/: the covariance of outputs that comes from one weight, without its Jacobian where possible.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

/// A posterior over a weight [dg, di] that is independent in a product basis: U_gᵀ W U_i has variances v.
struct ProductPosterior {
  at::Tensor gradient_basis, input_basis;  // U [d, d]; [d]: diagonal; undefined: the identity
  at::Tensor variance;                     // v [dg, di]
};

/// Σ_ij v_ij M̃_cij M̃_c'ij [n, C, C] float64, for outputs with gradients M_c = Σ_s gradients_cs inputs_sᵀ [dg, di] and M̃
/// = U_gᵀ M U_i; gradients [n, C, dg, S], inputs [n, S, di], all of one type. With one position M is never made:
/// Σ_i g̃_ci g̃_c'i (Σ_j v_ij ã_j²). Else it is made once, and rotated before or after the sum over positions, whichever
/// is less work.
at::Tensor product_covariance(const at::Tensor& gradients, const at::Tensor& inputs, const ProductPosterior& posterior);

/// How many examples like these (n = 1) to give it at once: what it reads and makes fits into a few megabytes.
int64_t product_chunk(const at::Tensor& gradients, const at::Tensor& inputs);

}  // namespace ockham
