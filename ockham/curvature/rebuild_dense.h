// Dense curvature at other root hyperparameters (temperature, σ per output), exactly and without the network: from kept
// Jacobians.
#pragma once

#include <ATen/core/Tensor.h>

#include "ockham/curvature/curvature.h"
#include "ockham/network/parameter_layout.h"
#include "ockham/probability/data_fit.h"
#include "ockham/probability/likelihood.h"

namespace ockham {

/// True when every block is dense and kept its Jacobian, and the roots follow from the outputs alone: the Monte-Carlo
/// Fisher drew its targets at the values of the pass.
bool can_rebuild(const Curvature& curvature, CurvatureKind kind);

struct RebuildOptions {
  Likelihood likelihood;
  CurvatureKind kind = CurvatureKind::ggn;
  bool derivatives = true;
};

/// Φ = Rᵀ J in each block's own form, with R from the kept outputs and targets at `hyperparameters`.
Curvature rebuild_dense(const Curvature& curvature, const DataFit& data_fit, const Hyperparameters& hyperparameters,
                        const RebuildOptions& options);

/// Jᵀ v [P] for v [N, C], from the kept Jacobians.
at::Tensor back_through_jacobians(const Curvature& curvature, const ParameterLayout& layout, const at::Tensor& column);

}  // namespace ockham
