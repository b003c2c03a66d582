// Curvature decomposed once, evaluated for many priors and noises: log|H|, H⁻¹x, samples, with H = s·B + P_δ.
// The formulas by kind of block: decomposed_matrix.h, decomposed_rows.h, decomposed_kronecker.h, decomposed_diagonal.h.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "ockham/curvature/curvature.h"
#include "ockham/curvature/decompose_many.h"
#include "ockham/curvature/output_posterior.h"
#include "ockham/probability/prior.h"

namespace ockham {

/// Where H is evaluated: the scale s of the curvature (likelihood weight and noise), the precisions, and the shift of
/// the M root hyperparameters from their values in the pass.
struct PrecisionPoint {
  double scale = 1;
  at::Tensor log_prior_precision;  // [G]
  at::Tensor root_shift;           // [M], log scale; undefined or zero: at the pass
};

struct LogDeterminant {
  double value = 0;
  at::Tensor gradient_log_prior_precision;  // [G]: Σ_{i in g} δ_i (H⁻¹)_ii
  double gradient_log_scale = 0;            // tr(H⁻¹ s B), the effective number of parameters
  at::Tensor gradient_root;  // [M]: tr(H⁻¹ s ∂B/∂η_m); undefined when no derivatives were estimated
};

struct DecomposeOptions {
  bool damping = false;  // the paper's ablation: (√s q_i + √δ)(√s w_j + √δ) instead of s q_i w_j + δ
  bool eigenvectors =
      true;  // compute them at once; else when something first needs them (solve, sample, root derivatives)
  DecomposeMany decompose = {};  // of the matrices that are decomposed at once; empty: here and now
};

/// A handle: copies share the decomposition and its caches, which are safe to use from several threads.
class DecomposedCurvature {
 public:
  DecomposedCurvature(Curvature curvature, Prior prior, DecomposeOptions options = {});

  /// Throws Error(usage) when the Kronecker structure meets a prior that is not separable (naming the parameter), and
  /// Error(numerical) when H is not positive definite or not finite.
  LogDeterminant log_determinant(const PrecisionPoint& point) const;
  /// Says that so many log determinants will be asked for: decompositions that pay by then are made at the first one,
  /// and not after as much time has been spent without them. Changes nothing but the time.
  void expect_evaluations(int64_t count) const;

  at::Tensor solve(const PrecisionPoint& point, const at::Tensor& vector) const;  // H⁻¹x, x [P] float64
  /// xᵀ (∂H/∂η) x for the gradient of the correction term. η = log s: xᵀ s B x; η = log δ_g: Σ_{i in g} δ_i x_i² [G]
  /// (with damping both differ); η a root hyperparameter: xᵀ (s ∂B/∂η_m) x [M].
  double curvature_form(const PrecisionPoint& point, const at::Tensor& vector) const;
  at::Tensor prior_form(const PrecisionPoint& point, const at::Tensor& vector) const;
  at::Tensor root_form(const PrecisionPoint& point, const at::Tensor& vector) const;

  /// J H⁻¹ Jᵀ [N, C, C] for Jacobians J [N, C, P] float64.
  at::Tensor output_covariance(const PrecisionPoint& point, const at::Tensor& jacobian) const;
  /// The same from layer calls and without J as a whole, at this point and in this type, for batch after batch.
  OutputPosterior output_posterior(const PrecisionPoint& point, at::ScalarType type = at::kDouble) const;
  /// W x for every row x of [S, P] float64, with W [P, P] a root of the inverse: H⁻¹ = W Wᵀ; and Wᵀ x. The root is that
  /// of each block: an eigenbasis over the roots of its eigenvalues, or L⁻ᵀ of H = L Lᵀ.
  at::Tensor apply_root(const PrecisionPoint& point, const at::Tensor& rows) const;
  at::Tensor apply_root_transposed(const PrecisionPoint& point, const at::Tensor& rows) const;
  /// S samples of N(0, H⁻¹), [S, P] float64.
  at::Tensor sample(const PrecisionPoint& point, int64_t samples, at::Generator generator) const;

  int64_t root_derivative_count() const;  // M, 0 when none were estimated
  int64_t clipped_eigenvalues() const;    // negative round-off set to zero
  const Curvature& curvature() const;
  const Prior& prior() const;

 private:
  at::Tensor apply_root(const PrecisionPoint& point, const at::Tensor& rows, bool transposed) const;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ockham
