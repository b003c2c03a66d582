// Ψᵀ (Λ + t)⁻¹ Ψ as a function of t > 0: what eliminating a rotated block with one precision leaves in a Schur
// complement.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

/// G(t) = Ψᵀ diag(1/(λ + t)) Ψ for λ [n] >= 0 and Ψ [n, r], for many t. A hyperparameter's steps stay near each other,
/// so after a few evaluations within a window of log t, G is interpolated there: each entry is analytic in log t in a
/// strip of half-width π, and 12 Chebyshev points on a half-width of 0.25 have an error of (0.25 / 2π)¹² < 1e-16 of it.
/// An evaluation then costs O(r²) instead of O(n r²).
class ResolventGram {
 public:
  ResolventGram() = default;
  ResolventGram(at::Tensor values, at::Tensor columns);  // λ, Ψ; float64

  struct Value {
    at::Tensor gram;   // G [r, r]
    at::Tensor slope;  // -dG/dlog t = Ψᵀ diag(t/(λ + t)²) Ψ [r, r]
  };
  Value at(double log_shift);  // log t

 private:
  at::Tensor gram_at(double log_shift) const;
  Value directly(double log_shift) const;
  Value interpolated(double log_shift) const;
  void open_window(double centre);
  bool within_window(double log_shift) const;

  at::Tensor values_, columns_;
  double centre_ = 0;        // of the window, or of the evaluations that may make one
  int64_t evaluations_ = 0;  // near `centre_`, directly
  at::Tensor window_;        // G at the Chebyshev points [12, r²]; undefined: no window yet
};

}  // namespace ockham
