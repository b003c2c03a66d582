// Appendix A's term for a θ that is no mode: ½ gᵀH⁻¹g with g = ∇_θ of -log p(D, θ), and its gradient.
#pragma once

#include "ockham/evidence/curvature_at.h"

namespace ockham {

/// With x = H⁻¹g the derivative in any hyperparameter η is xᵀ ∂g/∂η - ½ xᵀ (∂H/∂η) x.
struct Correction {
  double value = 0;
  at::Tensor gradient_log_prior_precision;  // [G]
  double gradient_log_scale_noise = 0;      // in log σ when one σ enters by the scale, else 0
  at::Tensor gradient_root;                 // [M]; undefined when no derivatives were estimated
};

/// Throws Error(usage) when the fit has no likelihood gradient.
Correction correction_term(const LaplaceFit& fit, const CurvatureAt& at, const Hyperparameters& hyperparameters);

}  // namespace ockham
