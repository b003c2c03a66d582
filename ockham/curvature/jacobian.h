// Jacobians of the outputs with respect to the parameters, exact, in chunks.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ockham/network/network.h"
#include "ockham/observe/observe_forward.h"

namespace ockham {

struct JacobianBatch {
  at::Tensor outputs;   // [N, C], detached
  at::Tensor jacobian;  // J [N, C, P] in the network's type
};

/// By layer calls where they explain a parameter, by autograd example by example where not.
JacobianBatch jacobian(const Network& network, const at::Tensor& inputs, const ObserveOptions& options = {});

}  // namespace ockham
