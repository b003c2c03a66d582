// A curvature and a point for the networks of the layer zoo, for tests of what the outputs see of the posterior.
#pragma once

#include <ATen/ATen.h>

#include "ockham/base/random.h"
#include "ockham/curvature/decomposed.h"
#include "ockham/curvature/estimate_curvature.h"
#include "tests/support/layer_zoo.h"

namespace ockham {

inline Curvature curvature_of(const testing::ZooNetwork& zoo, Structure structure, const ObserveOptions& observe = {}) {
  CurvatureOptions options;
  options.structure = structure;
  options.observe = observe;
  options.largest_exact_block = 4;  // so that exact and diagonal small blocks both occur
  const Dataset data(zoo.inputs, at::randint(0, 3, {5}, random_stream({11}), at::kLong));
  return estimate_curvature(zoo.network, Categorical{}, data, default_likelihood_hyperparameters(Categorical{}, 3),
                            options)
      .curvature;
}

inline PrecisionPoint point_of(const Prior& prior) {
  return {3.7, 0.5 * at::randn({prior.size()}, random_stream({12}), at::kDouble), {}};
}

}  // namespace ockham
