// A curvature as named tensors and back, exactly: what a file keeps of it.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "ockham/curvature/curvature.h"
#include "ockham/network/parameter_layout.h"

namespace ockham {

/// Block k has the names "k.parameters" (indices in the layout, int64) and, by its kind,
///   dense      k.factor [], and k.matrix [p, p] or k.rows [m, p] with k.row_factors.PARAMETER.left and .right
///   Kronecker  k.left, k.right, k.gradient_left []
///   diagonal   k.diagonal [p]
/// in float64. Derivatives and Jacobians are left out: nothing at the hyperparameters of the pass needs them.
std::map<std::string, at::Tensor> curvature_to_tensors(const Curvature& curvature);

/// Believes nothing: every name, type and shape is checked against the layout, values must be finite, and the blocks
/// must tile θ. Throws Error(data) with one sentence that names the tensor. A bias block that equals the factor of its
/// weight shares its memory again, and with it the decomposition.
Curvature curvature_from_tensors(const std::map<std::string, at::Tensor>& tensors, const ParameterLayout& layout);

}  // namespace ockham
