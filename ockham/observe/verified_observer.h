// Observes batch after batch in the way that was verified against autograd on a few examples.
#pragma once

#include <ATen/core/Tensor.h>

#include "ockham/network/network.h"
#include "ockham/observe/observe_forward.h"

namespace ockham {

class VerifiedObserver {
 public:
  /// Observes the first examples of `inputs`; with `verify`, parameters whose recognised uses do not give autograd's
  /// gradient are left to the exact fallback, and a network that mixes examples is refused with Error(data).
  VerifiedObserver(const Network& network, const at::Tensor& inputs, ObserveOptions options = {}, bool verify = true);

  /// Parameters for the exact fallback: those that were to be left to it, and those that were refused.
  const std::vector<size_t>& left_unexplained() const { return options_.leave_unexplained; }

  /// The observation of the first examples: which calls use which parameters.
  const Observation& sample() const { return sample_; }

  /// Observes a batch; inputs of a floating type are brought to the network's. Throws Error(data) when the network uses
  /// its parameters differently than for the first examples.
  Observation observe(const at::Tensor& inputs) const;

 private:
  const Network& network_;
  ObserveOptions options_;
  Observation sample_;
};

}  // namespace ockham
