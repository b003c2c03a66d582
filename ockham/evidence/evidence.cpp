#include "ockham/evidence/evidence.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/evidence/correction.h"
#include "ockham/evidence/curvature_at.h"

namespace ockham {
namespace {

void require_finite(double term, const char* name) {
  if (std::isfinite(term)) return;
  throw Error(ErrorKind::numerical,
              std::string("The ") + name +
                  " of the evidence is not finite; check the weights, the data and the hyperparameters.");
}

/// What -½ log|H| and the correction give to the M root hyperparameters; undefined when no derivatives were estimated.
at::Tensor root_gradient(const LogDeterminant& log_det, const Correction& correction, bool corrected) {
  if (!log_det.gradient_root.defined()) return {};
  if (!corrected) return -0.5 * log_det.gradient_root;
  return correction.gradient_root.defined() ? correction.gradient_root - 0.5 * log_det.gradient_root : at::Tensor();
}

/// From the structure that was decomposed to the full one.
void add_difference(const StructureDifference::Value& difference, LogDeterminant& log_det) {
  log_det.value += difference.value;
  log_det.gradient_log_prior_precision = log_det.gradient_log_prior_precision + difference.gradient_log_prior_precision;
  log_det.gradient_log_scale += difference.gradient_log_scale;
  if (log_det.gradient_root.defined() && difference.gradient_root.defined())
    log_det.gradient_root = log_det.gradient_root + difference.gradient_root;
}

}  // namespace

Evidence evidence(const LaplaceFit& fit, const Hyperparameters& hyperparameters, const EvidenceOptions& options) {
  const double weight = fit.options.likelihood_weight;
  const DataFit::Value data = fit.data_fit.evaluate(hyperparameters);
  const CurvatureAt curvature = curvature_at(fit, hyperparameters);
  LogDeterminant log_det = curvature.curvature.log_determinant(curvature.point);
  std::optional<LogDetError> log_det_error;
  if (fit.difference) {
    const StructureDifference::Value difference = fit.difference->at(curvature.point);
    add_difference(difference, log_det);
    log_det_error = {difference.standard_error, difference.half_width, difference.lanczos_bias};
  }
  Correction correction;
  if (options.correction) correction = correction_term(fit, curvature, hyperparameters);

  Evidence result;
  result.log_likelihood = weight * data.log_likelihood;
  result.log_prior = Prior::log_density(fit.mode_statistics, hyperparameters.log_prior_precision);
  result.log_det = log_det.value;
  result.log_det_error = log_det_error;
  result.correction = correction.value;
  require_finite(result.log_likelihood, "log likelihood");
  require_finite(result.log_prior, "log prior");
  require_finite(result.log_det, "log determinant");
  require_finite(result.correction, "correction");
  const double weights = static_cast<double>(fit.prior.layout().total());
  result.value = result.log_likelihood + result.log_prior + 0.5 * weights * std::log(2 * M_PI) - 0.5 * result.log_det +
                 result.correction;

  Hyperparameters& gradient = result.gradient;
  gradient.log_prior_precision = Prior::log_density_gradient(fit.mode_statistics, hyperparameters.log_prior_precision) -
                                 0.5 * log_det.gradient_log_prior_precision;
  if (options.correction) gradient.log_prior_precision += correction.gradient_log_prior_precision;

  const at::Tensor none = at::zeros({0}, at::kDouble);
  gradient.log_noise = none;
  gradient.log_temperature = none;
  const at::Tensor root = root_gradient(log_det, correction, options.correction);
  const double exponent = curvature_scale_exponent(fit.likelihood, fit.options.curvature.kind);
  if (exponent != 0) {
    gradient.log_noise = weight * data.gradient_log_noise - 0.5 * exponent * log_det.gradient_log_scale +
                         correction.gradient_log_scale_noise;
  } else if (hyperparameters.log_noise.numel() > 0 && root.defined()) {
    gradient.log_noise = weight * data.gradient_log_noise + root;
  } else if (hyperparameters.log_temperature.numel() > 0 && root.defined()) {
    gradient.log_temperature = weight * data.gradient_log_temperature + root;
  }
  return result;
}

}  // namespace ockham
