#include "ockham/curvature/decomposed_whitening.h"

#include <ATen/ATen.h>

#include "ockham/base/error.h"

namespace ockham {

SeparablePrecision split_separable(const at::Tensor& log_precision, const std::string& parameter) {
  SeparablePrecision result;
  result.right = log_precision[0].clone();
  result.left = log_precision.select(1, 0) - log_precision[0][0];
  const at::Tensor difference = log_precision - result.left.unsqueeze(1) - result.right;
  if (difference.abs().max().item<double>() > 1e-10) {
    throw Error(
        ErrorKind::usage,
        "The prior precisions of " + parameter +
            " differ from weight to weight in a way that is no product of one per row and one per column, which the "
            "Kronecker structure needs; use a scalar, layerwise or ard prior, or the full or diagonal structure.");
  }
  return result;
}

at::Tensor whiten_factor(const at::Tensor& factor, const at::Tensor& log_precision) {
  if (factor.dim() == 1) return factor * (-log_precision).exp();
  const at::Tensor root = (-0.5 * log_precision).exp();
  return factor * root * root.unsqueeze(1);
}

}  // namespace ockham
