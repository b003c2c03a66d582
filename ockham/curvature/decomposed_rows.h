// A dense block by its rows, H = s·ΦᵀΦ + D with Φ [m, p], m < p: |H| = |D|·|M|, M = I + s Φ D⁻¹ Φᵀ [m, m] = L Lᵀ.
// K_g = Φ_g Φ_gᵀ is the Gram matrix of the n_g weights of one precision. By what the prior is over the block:
//   mostly one precision, often evaluated (δ on n of p weights, r = p - n others), O(m r²) a step, O(m) where r = 0:
//     K₁ = U Λ Uᵀ once, E = 1/(1 + sΛ/δ), Ψ = √s Uᵀ Φᵣ Dᵣ^-½,
//     |M| = ∏ E_i⁻¹ |C|, C = I + Ψᵀ E Ψ; δ (H⁻¹)_ii = (C⁻¹)_ii for the r others
//   mostly one precision, seldom evaluated, O(m³ + m² r) a step:
//     M from the factors of rows that are products (linalg/product_rows); for the r others as under "anything";
//     for the one what is left of tr(M⁻¹ (M - I)) = m - ‖L⁻¹‖²
//   few precisions, O(m³) a step:
//     M = I + Σ_g (s/δ_g) K_g, δ_g tr(H⁻¹)_gg = n_g - (s/δ_g) tr(M⁻¹ K_g)
//   anything, O(m² p) a step:
//     Y = L⁻¹ √s Φ D^-½, δ_i (H⁻¹)_ii = 1 - Σ_k Y_ki²
// Away from the pass Φ(t) = Φ + Σ_m t_m Φ̇_m.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <map>
#include <vector>

#include "ockham/curvature/curvature.h"
#include "ockham/curvature/decomposed_eigen.h"
#include "ockham/curvature/decomposed_point.h"
#include "ockham/curvature/decomposed_span.h"

namespace ockham {

class DecomposedRows {
 public:
  DecomposedRows(const DenseBlock& block, BlockSpan span, EigenStore& store);

  const BlockSpan& span() const { return span_; }
  int64_t derivative_count() const { return static_cast<int64_t>(derivatives_.size()); }
  bool is_zero() const;

  // As in DecomposedMatrix.
  void expect_evaluations(int64_t count) { evaluations_ = std::max(evaluations_, count); }
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
  at::Tensor rows_at(const PrecisionPoint& point) const;
  bool choose_majority();
  bool choose_grams();
  bool choose_whitening();
  void add_by_majority(const PrecisionPoint& point, LogDeterminant& total);
  void add_by_grams(const PrecisionPoint& point, LogDeterminant& total);
  bool add_by_whitening(const PrecisionPoint& point, LogDeterminant& total);  // false when M is not finite
  void add_directly(const PrecisionPoint& point, LogDeterminant& total);

  /// √s Φ(t) D⁻¹ [m, p] and the Cholesky factor of M, for solves at one point.
  struct Woodbury {
    at::Tensor precision, scaled_rows, factor;
  };
  const Woodbury& woodbury_at(const PrecisionPoint& point);
  static at::Tensor covariance(const Woodbury& parts, const at::Tensor& jacobian);

  BlockSpan span_;
  double multiplier_;
  at::Tensor rows_;
  std::vector<at::Tensor> derivatives_;
  EigenStore& store_;
  int64_t evaluations_ = 0;
  RememberedPoint remembered_;
  Woodbury woodbury_;

  /// Φ_run Φ_runᵀ [m, m]: of the rows' factors where the run is a parameter that has them.
  at::Tensor gram_of(const BlockSpan::Run& run) const;
  std::map<int64_t, RowFactors> factors_;  // by the first weight of their parameter within the block

  /// Φ of a parameter with one precision as products; `right` is one column of ones where it has no factors.
  struct Part {
    int64_t group = 0;
    at::Tensor left, right;
  };
  std::vector<Part> parts_;
  int64_t widest_group_ = -1;

  std::vector<int64_t> gram_groups_;
  at::Tensor gram_weights_;  // n_g [G']
  at::Tensor grams_;         // K_g [G', m²]
  at::Tensor cross_grams_;   // Φ̇_m,g Φ_gᵀ [M, G', m²]

  struct {
    int64_t group = -1;
    int64_t weights = 0;  // n
    at::Tensor rest;      // indices of weights
    at::Tensor values;    // Λ [m]
    at::Tensor rotated;   // Uᵀ Φᵣ [m, r]
    at::Tensor slopes;    // diag(Uᵀ Φ̇_m Φᵀ U) [M, m], r = 0 only
  } majority_;
};

}  // namespace ockham
