// Private to curvature/: the pass over a small table for a plain MLP, from its layers' inputs a and output gradients g.
#pragma once

#include <optional>

#include "ockham/curvature/estimate_curvature.h"
#include "ockham/observe/plain_mlp.h"

namespace ockham {

/// What `estimate_curvature` gives, up to rounding, in one batch and without observation; targets must be prepared
/// (prepare_targets). Nothing when the options ask for more than it has: verification, derivatives, gradients, blocks.
std::optional<CurvatureEstimate> estimate_plain_mlp(PlainMlp& mlp, const Likelihood& likelihood, const Dataset& data,
                                                    const Hyperparameters& hyperparameters,
                                                    const CurvatureOptions& options);

}  // namespace ockham
