// The posterior as the outputs see it: H⁻¹ at one point, ready for J H⁻¹ Jᵀ.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "ockham/curvature/output_gradients.h"

namespace ockham {

/// Adds what one block contributes to the covariance [N, C, C] float64.
using BlockCovariance = std::function<void(const OutputGradients& gradients, at::Tensor& total)>;

/// A value, made by DecomposedCurvature::output_posterior; may be used from several threads at once.
class OutputPosterior {
 public:
  explicit OutputPosterior(std::vector<BlockCovariance> blocks) : blocks_(std::move(blocks)) {}

  /// J H⁻¹ Jᵀ [N, C, C] float64, without J as a whole: weights with a Kronecker or diagonal block by their layer calls
  /// (product_covariance.h), others by their own columns of J, some examples at a time. Parameters that the gradients
  /// leave out are known: they must fill whole blocks, or parts of a diagonal one. The gradients are of the type that
  /// this was made for.
  at::Tensor covariance(const OutputGradients& gradients) const;

 private:
  std::vector<BlockCovariance> blocks_;
};

}  // namespace ockham
