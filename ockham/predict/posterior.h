// The Laplace posterior over the parameters, N(mode, H⁻¹).
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "ockham/evidence/laplace_fit.h"

namespace ockham {

/// S samples of θ, [S, P] float64. Network::set_flat_parameters takes one row.
at::Tensor sample_posterior(const LaplaceFit& fit, const Hyperparameters& hyperparameters, int64_t samples,
                            at::Generator generator);

}  // namespace ockham
