// How the symmetric matrices of a curvature are decomposed together: here, or shared out over processes.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "ockham/linalg/symmetric_eigen.h"

namespace ockham {

/// As `symmetric_eigen`.
using DecomposeMany = std::function<std::vector<SymmetricEigen>(const std::vector<at::Tensor>& matrices, bool vectors)>;

}  // namespace ockham
