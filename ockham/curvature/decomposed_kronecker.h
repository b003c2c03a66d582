// A Kronecker block, H = s·Q ⊗ W + D for a parameter [d0][d1], one pair of factors per group of a grouped convolution.
//   one precision δ:    log|H| = Σ_ij log(s q_i w_j + δ), in the eigenbasis of the factors
//   separable D = A⊗B:  whitened factors A^-½ Q A^-½ and B^-½ W B^-½, log|H| = log|D| + Σ_ij log(s q_i w_j + 1)
//   damped (ablation):  Σ_ij log((√s q_i + √δ)(√s w_j + √δ)), one precision only
// Away from the pass the gradient factor moves as in decomposed_moving.h: by its eigenvalues for one precision, as a
// matrix else.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "ockham/curvature/curvature.h"
#include "ockham/curvature/decomposed_moving.h"
#include "ockham/curvature/decomposed_point.h"
#include "ockham/curvature/decomposed_span.h"
#include "ockham/linalg/binned_spectrum.h"

namespace ockham {

class DecomposedKronecker {
 public:
  DecomposedKronecker(const KroneckerBlock& block, BlockSpan span, EigenStore& store, bool damping);

  const BlockSpan& span() const { return span_; }
  int64_t derivative_count() const { return groups_[0].gradient().derivative_count(); }
  bool is_zero() const;
  void list_decompositions(std::vector<size_t>& with_vectors, std::vector<size_t>& values_only) const;

  // As in DecomposedMatrix.
  void add_log_determinant(const PrecisionPoint& point, LogDeterminant& total);
  at::Tensor solve(const PrecisionPoint& point, const at::Tensor& rows);
  double curvature_form(const PrecisionPoint& point, const at::Tensor& vector);
  void add_prior_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_group);
  void add_root_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_root);
  at::Tensor covariance(const PrecisionPoint& point, const at::Tensor& jacobian);
  BlockCovariance output_covariance(const PrecisionPoint& point, at::ScalarType type);
  at::Tensor apply_root(const PrecisionPoint& point, const at::Tensor& rows, bool transposed);
  at::Tensor sample(const PrecisionPoint& point, int64_t samples, at::Generator generator);

 private:
  struct Group {
    MovingFactor left, right;
    bool gradient_left;
    std::optional<BinnedSpectrum> bins = std::nullopt;  // of all q_i w_j, after several evaluations at the pass
    const MovingFactor& gradient() const { return gradient_left ? left : right; }
    MovingFactor& gradient() { return gradient_left ? left : right; }
  };
  /// H⁻¹ = (left ⊗ right) diag(1/λ) (left ⊗ right)ᵀ with λ_ij = s·q_i·w_j + shift (or damped). Vectors may be
  /// undefined (the identity) or [d] (a diagonal matrix).
  struct Basis {
    at::Tensor q, w;         // [d0], [d1]
    at::Tensor left, right;  // [d0, d0], [d1, d1]
    double shift = 1;
    at::Tensor log_precision;  // [d0, d1], in the whitened case
  };

  bool uniform() const { return span_.uniform_group() >= 0; }
  double uniform_precision(const PrecisionPoint& point) const;
  Basis uniform_basis(size_t group, const PrecisionPoint& point, bool vectors);
  const std::vector<Basis>& whitened_bases(const PrecisionPoint& point);
  Basis basis(size_t group, const PrecisionPoint& point);
  at::Tensor denominators(const Basis& basis, double scale) const;  // λ [d0, d1]
  struct Inverse {
    at::Tensor left, right, variance;  // as in Basis, and 1/λ
  };
  std::vector<Inverse> inverse_at(const PrecisionPoint& point);
  static at::Tensor covariance(const std::vector<Inverse>& groups, const at::Tensor& jacobian);
  /// The factor Q or W at the point (left, right), and the derivative of the one that comes from gradients.
  at::Tensor factor_at(MovingFactor& factor, const PrecisionPoint& point);
  at::Tensor derivative_at(MovingFactor& factor, int64_t m, const PrecisionPoint& point);
  at::Tensor split(const at::Tensor& rows) const;  // [n, p] to [n, G, d0, d1]

  /// Σ_ij log(s q_i w_j + δ) and Σ_ij 1/(s q_i w_j + δ).
  LogSum sum_over(size_t group, const Basis& basis, const PrecisionPoint& point);
  void add_uniform(size_t group, const PrecisionPoint& point, LogDeterminant& total);
  void add_damped(size_t group, const PrecisionPoint& point, LogDeterminant& total);
  void add_whitened(size_t group, const PrecisionPoint& point, at::Tensor by_weight, LogDeterminant& total);

  BlockSpan span_;
  bool damping_;
  std::vector<Group> groups_;
  int64_t evaluations_ = 0;
  RememberedPoint remembered_;
  std::vector<Basis> whitened_;
};

}  // namespace ockham
