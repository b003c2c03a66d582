#include "ockham/predict/posterior.h"

#include <ATen/ATen.h>

#include "ockham/base/error.h"
#include "ockham/evidence/curvature_at.h"

namespace ockham {

at::Tensor sample_posterior(const LaplaceFit& fit, const Hyperparameters& hyperparameters, int64_t samples,
                            at::Generator generator) {
  if (samples < 1) {
    throw Error(ErrorKind::usage,
                "The number of posterior samples is " + std::to_string(samples) + ", expected at least 1.");
  }
  const CurvatureAt at = curvature_at(fit, hyperparameters);
  return fit.mode + at.curvature.sample(at.point, samples, std::move(generator));
}

}  // namespace ockham
