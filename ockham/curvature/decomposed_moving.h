// A factor B of the curvature as a function of the shift t [M] of the root hyperparameters from their values in the
// pass, given B and its derivatives Ḃ_m there. Every form below has the exact value and derivative at t = 0 and is what
// is held fixed away from it; an exact answer needs a new pass, or kept Jacobians (curvature/rebuild_dense.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ockham/curvature/decomposed_eigen.h"

namespace ockham {

class MovingFactor {
 public:
  /// `factor` [d, d], or [d] for a diagonal one; `derivatives` alike. `store` must outlive this.
  MovingFactor(at::Tensor factor, std::vector<at::Tensor> derivatives, EigenStore& store);

  bool is_zero() const;
  bool diagonal() const { return factor_.dim() == 1; }
  int64_t size() const { return factor_.size(0); }
  size_t index() const { return index_; }  // in the store; meaningless when diagonal
  int64_t derivative_count() const { return static_cast<int64_t>(derivatives_.size()); }

  /// Eigenvectors are held and eigenvalues move log-linearly, q_i(t) = q_i exp(Σ_m t_m κ_im), κ_im = (Uᵀ Ḃ_m U)_ii /
  /// q_i, with κ = 0 where q_i is below 1e-14 of the largest. `shift` undefined means t = 0.
  at::Tensor values(const at::Tensor& shift);             // q(t) [d]
  at::Tensor value_derivatives(const at::Tensor& shift);  // ∂q_i/∂t_m [M, d]
  at::Tensor vectors();                                   // U [d, d]; undefined when diagonal: the identity

  /// The factor with moving eigenvectors, positive semi-definite, [d, d] or [d].
  /// M = 1 (temperature): e^{-2t} B^½ (I + ½ t K)² B^½ with K = B^-½ Ḃ B^-½ + 2I; exact when B is proportional to
  /// e^{-2t}. M > 1 (σ per output): B + Σ_m ½(1 - e^{-2t_m}) Ḃ_m; exact for the GGN and the Monte-Carlo Fisher of a
  /// Gaussian.
  at::Tensor matrix(const at::Tensor& shift);
  at::Tensor matrix_derivative(int64_t m, const at::Tensor& shift);
  /// The diagonal one moves as `values`, at all M.

 private:
  const at::Tensor& log_slopes();  // κ [M, d]
  void prepare_congruence();

  at::Tensor factor_;
  std::vector<at::Tensor> derivatives_;
  EigenStore& store_;
  size_t index_ = 0;
  at::Tensor clipped_diagonal_;
  at::Tensor log_slopes_;
  at::Tensor root_;   // U q^½ [d, d]
  at::Tensor slope_;  // K in the eigenbasis [d, d]
};

/// vectors · diag(values) · vectorsᵀ; vectors undefined: diag(values) stays [d].
at::Tensor recompose(const at::Tensor& vectors, const at::Tensor& values);

/// diag(Uᵀ A U) [d] for A [d, d]; for a diagonal A [d], U is undefined (the identity) or [d] (diagonal).
at::Tensor rotated_diagonal(const at::Tensor& vectors, const at::Tensor& matrix);

}  // namespace ockham
