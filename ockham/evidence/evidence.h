// log q(D | M) = log p(D | θ) + log p(θ | M) + (P/2) log 2π - ½ log|H| [+ ½ gᵀH⁻¹g], and its gradient. A pure function:
// no data.
#pragma once

#include <optional>

#include "ockham/evidence/laplace_fit.h"

namespace ockham {

struct EvidenceOptions {
  bool correction = false;  // Appendix A's term for a θ that is no mode; needs a fit with `likelihood_gradient`
};

/// Of a log determinant that is estimated (LaplaceOptions::slq).
struct LogDetError {
  double standard_error = 0;  // over the probes
  double half_width = 0;      // of the 95 % interval, by Student's t
  double lanczos_bias = 0;    // what the second half of the Lanczos steps changed: not part of the interval
};

struct Evidence {
  double log_likelihood = 0;  // with the likelihood weight
  double log_prior = 0;
  double log_det = 0;  // log|H| of the posterior precision
  std::optional<LogDetError> log_det_error;
  double correction = 0;  // ½ gᵀH⁻¹g, 0 unless asked for
  double value = 0;
  /// With respect to the natural logarithms. The gradient in the temperature (or in one σ per output) is empty, [0],
  /// when the fit was made without `root_derivatives`: it is not known then.
  Hyperparameters gradient;
};

/// Throws Error(numerical) when a term is not finite, naming it.
Evidence evidence(const LaplaceFit& fit, const Hyperparameters& hyperparameters, const EvidenceOptions& options = {});

}  // namespace ockham
