// The differentiable hyperparameters of a model, on the log scale, and their gradient.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

/// All float64 on the CPU; a gradient of the evidence has the same shape as the value.
struct Hyperparameters {
  at::Tensor log_prior_precision;  // [G], one per group of the Prior
  at::Tensor log_noise;            // log σ: [1], or [C] with one per output; [0] when the likelihood has no noise
  at::Tensor log_temperature;      // log T: [1]; [0] when the likelihood has no temperature

  Hyperparameters clone() const;
};

}  // namespace ockham
