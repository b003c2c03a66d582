// The curvature of a fit at given hyperparameters: which decomposition to ask, and at which point.
#pragma once

#include "ockham/evidence/laplace_fit.h"

namespace ockham {

struct CurvatureAt {
  DecomposedCurvature curvature;
  PrecisionPoint point;
  bool rebuilt =
      false;  // exactly, from kept Jacobians, because the temperature or σ per output differs from the pass's
};

/// The scale is the likelihood weight times `curvature_scale`. Away from the temperature (or σ per output) of the pass,
/// dense curvature with kept Jacobians is computed again; others move as curvature/decomposed_moving.h says, or throw
/// Error(usage) when no derivatives were estimated.
CurvatureAt curvature_at(const LaplaceFit& fit, const Hyperparameters& hyperparameters);

}  // namespace ockham
