// References by brute force: explicit Jacobians through autograd, one example and one output at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include "ockham/network/network.h"
#include "ockham/probability/likelihood.h"

namespace ockham::testing {

/// J [N, C, P] float64.
at::Tensor brute_force_jacobian(const Network& network, const at::Tensor& inputs);

/// Σ_n J_nᵀ R_n R_nᵀ J_n [P, P] with R from output_root.
at::Tensor brute_force_curvature(const Network& network, const at::Tensor& inputs, const at::Tensor& targets,
                                 const Likelihood& likelihood, const Hyperparameters& hyperparameters,
                                 CurvatureKind kind);

}  // namespace ockham::testing
