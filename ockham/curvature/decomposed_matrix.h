// A dense block in matrix form, H = s·B + D with B [p, p]. With e = 1/(sλ + δ), by what the prior is over the block:
//   one precision δ:   log|H| = Σ log(sλ_i + δ), λ the eigenvalues of B                                        O(p) a
//   step mostly one (δ on n of p weights, r = p - n others): B₁₁ = U Λ Uᵀ once, Ψ = Uᵀ B₁ᵣ, Schur complement
//                      S = s Bᵣᵣ + Dᵣ - s² Ψᵀ diag(e) Ψ, log|H| = Σ log(sλ_i + δ) + log|S|                     O(p r²)
//                      a step, O(r³) where steps are small (linalg/resolvent_gram)
//   anything:          Cholesky of H                                                                           O(p³) a
//   step
// Decompositions cost as much as several Cholesky factors, so large blocks change to them after a few evaluations.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string>

#include "ockham/curvature/curvature.h"
#include "ockham/curvature/decomposed_moving.h"
#include "ockham/curvature/decomposed_point.h"
#include "ockham/curvature/decomposed_span.h"
#include "ockham/linalg/resolvent_gram.h"

namespace ockham {

class DecomposedMatrix {
 public:
  DecomposedMatrix(const DenseBlock& block, BlockSpan span, EigenStore& store);

  const BlockSpan& span() const { return span_; }
  int64_t derivative_count() const { return factor_.derivative_count(); }
  bool is_zero() const;
  /// Adds the indices of matrices in the store that are to be decomposed before the first evaluation.
  void list_decompositions(std::vector<size_t>& with_vectors, std::vector<size_t>& values_only) const;

  /// So many log determinants are to come: a decomposition that pays by then is made at the first.
  void expect_evaluations(int64_t count) { evaluations_ = std::max(evaluations_, count); }

  // Rows are [n, p], one vector each; see DecomposedCurvature for the meaning.
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
  bool choose_eigenvalues();
  bool choose_schur();
  void add_by_eigenvalues(const PrecisionPoint& point, LogDeterminant& total);
  void add_by_schur(const PrecisionPoint& point, LogDeterminant& total);
  void add_by_cholesky(const PrecisionPoint& point, LogDeterminant& total);
  at::Tensor precision_at(const PrecisionPoint& point);  // H
  /// What a Cholesky function makes of H; of H without B's negative round-off, when it fails with it.
  template <class Factorise>
  auto factorised(const PrecisionPoint& point, Factorise factorise);
  bool clip_round_off(const PrecisionPoint& point);  // false when B has none, or more than rounding explains
  std::string description(const PrecisionPoint& point) const;
  const at::Tensor& factor_at(const PrecisionPoint& point);  // lower Cholesky factor of H
  static at::Tensor covariance(const at::Tensor& factor, const at::Tensor& jacobian);

  BlockSpan span_;
  double multiplier_;
  MovingFactor factor_;
  EigenStore& store_;
  int64_t evaluations_ = 0;
  RememberedPoint remembered_;
  at::Tensor cholesky_;
  at::Tensor clipped_;  // B without its negative eigenvalues, once it was needed

  /// The Schur form's parts; `main_` is the precision that governs most weights.
  struct Schur {
    int64_t group = -1;
    at::Tensor main, rest;     // indices of weights
    at::Tensor values;         // Λ [n]
    ResolventGram eliminated;  // Ψᵀ (Λ + δ/s)⁻¹ Ψ
    at::Tensor corner;         // Bᵣᵣ [r, r]
  } schur_;
};

}  // namespace ockham
