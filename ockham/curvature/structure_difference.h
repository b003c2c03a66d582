// log|H| of exact curvature that is never formed, as the difference from an approximation H₀ (Kronecker or diagonal)
// that is: with H₀⁻¹ = W Wᵀ, log|H| = log|H₀| + log|M|, M = Wᵀ H W. Stochastic Lanczos quadrature estimates log|M| = tr
// log M by probes z of random signs: zᵀ log(M) z ≈ zᵀz e₁ᵀ log(T) e₁, T [m, m] from m Lanczos steps from z.
//
// Away from the hyperparameters of the pass nothing touches the data again. On the Lanczos vectors V the prior of group
// g is the small matrix G_g = V Wᵀ P_g W Vᵀ, so that with ratios r = s'/s and r_g = δ'_g/δ_g, and G = Σ_g G_g,
//   T(r)  = r (T - G) + Σ_g r_g G_g     is Wᵀ H(r) W there, and
//   T₀(r) = r (I - G) + Σ_g r_g G_g     is Wᵀ H₀(r) W,
// and the difference of the structures is the mean over the probes of zᵀz e₁ᵀ (log T(r) - log T₀(r)) e₁. It is the
// estimate itself at the pass, its derivative there is an estimate of tr(H⁻¹ ∂H) - tr(H₀⁻¹ ∂H₀), and it vanishes where
// the prior dominates, as the difference does. Root hyperparameters (temperature, σ per output) enter to first order.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "ockham/curvature/curvature_products.h"
#include "ockham/curvature/decomposed.h"

namespace ockham {

struct SlqOptions {
  int64_t probes = 10;                              // S, at least two: their scatter is the error bar
  int64_t steps = 30;                               // m
  Structure preconditioner = Structure::kronecker;  // of H₀: kronecker or diagonal
  uint64_t seed = 0;                                // of the probes; nothing else moves them
};

class StructureDifference {
 public:
  struct Value {
    double value = 0;           // of log|H| - log|H₀|
    double standard_error = 0;  // of the mean over the probes
    double half_width = 0;      // of its 95 % interval, by Student's t
    double lanczos_bias =
        0;  // what the second half of the Lanczos steps changed; they lower the value towards its limit
    at::Tensor gradient_log_prior_precision;  // [G]
    double gradient_log_scale = 0;
    at::Tensor gradient_root;  // [M]; undefined when the preconditioner has no root derivatives
  };

  Value at(const PrecisionPoint& point) const;
  int64_t probes() const;
  int64_t steps() const;

  struct State;
  explicit StructureDifference(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

/// S rows of signs [S, P] int8; row s depends on the seed and s only.
at::Tensor random_signs(uint64_t seed, int64_t probes, int64_t weights);

struct DifferenceInput {
  const CurvatureProducts& products;          // B
  const DecomposedCurvature& preconditioner;  // H₀
  PrecisionPoint point;                       // of the pass: no root shift
  int64_t steps = 30;
  at::ScalarType basis_type = at::kDouble;  // in which Lanczos vectors are kept
  int64_t memory_budget = 0;                // bytes; 0: default_memory_budget()
};

/// m passes over the data for as many probes [S, P] at once as fit, and one more when the preconditioner has root
/// derivatives. Throws Error(usage) when one probe does not fit, or the prior has too many precisions to keep G_g.
StructureDifference estimate_difference(const DifferenceInput& input, const at::Tensor& probes);

/// Passes over the data that it will make.
int64_t passes_of_difference(const DifferenceInput& input, int64_t probes);

}  // namespace ockham
