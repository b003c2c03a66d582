// The curvature of some parameters while the others are held at the mode.
#pragma once

#include <cstddef>
#include <vector>

#include "ockham/curvature/curvature.h"
#include "ockham/network/parameter_layout.h"

namespace ockham {

/// Blocks of `parameters` alone: rows and columns of the others are left out, and one diagonal block of zeros stands
/// for them so that the blocks tile θ. With a dense block this is the posterior given the others, not their marginal.
Curvature restrict_curvature(const Curvature& curvature, const ParameterLayout& layout,
                             const std::vector<size_t>& parameters);

}  // namespace ockham
