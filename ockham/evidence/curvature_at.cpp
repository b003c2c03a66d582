#include "ockham/evidence/curvature_at.h"

#include <ATen/ATen.h>

#include "ockham/curvature/rebuild_dense.h"

namespace ockham {

CurvatureAt curvature_at(const LaplaceFit& fit, const Hyperparameters& hyperparameters) {
  const CurvatureKind kind = fit.options.curvature.kind;
  PrecisionPoint point;
  point.scale = fit.options.likelihood_weight * curvature_scale(fit.likelihood, kind, hyperparameters);
  point.log_prior_precision = hyperparameters.log_prior_precision;
  const at::Tensor now = root_hyperparameters(fit.likelihood, hyperparameters);
  if (now.numel() == 0) return {fit.curvature, point, false};
  point.root_shift = now - root_hyperparameters(fit.likelihood, fit.fitted_at);
  const bool moved = (point.root_shift.abs() > 1e-12).any().item<bool>();
  if (!moved || !can_rebuild(fit.curvature.curvature(), kind)) return {fit.curvature, point, false};

  point.root_shift = at::Tensor();
  DecomposeOptions options;
  options.damping = fit.options.damping;
  options.eigenvectors = false;
  Curvature rebuilt =
      rebuild_dense(fit.curvature.curvature(), fit.data_fit, hyperparameters, {fit.likelihood, kind, true});
  return {DecomposedCurvature(std::move(rebuilt), fit.prior, options), point, true};
}

}  // namespace ockham
