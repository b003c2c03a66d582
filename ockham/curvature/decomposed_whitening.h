// Separable diagonal precisions, δ_ij = exp(α_i + β_j): the priors under which a Kronecker factorisation stays exact.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace ockham {

struct SeparablePrecision {
  at::Tensor left;   // α [d0]
  at::Tensor right;  // β [d1]; takes the common level, so that α = 0 when rows do not differ
};

/// Splits log δ [d0, d1]; throws Error(usage) naming the parameter when it is not of that form to 1e-10.
SeparablePrecision split_separable(const at::Tensor& log_precision, const std::string& parameter);

/// exp(-½ α_i) F_ij exp(-½ α_j) for a factor [d, d], exp(-α_i) f_i for a diagonal one [d].
at::Tensor whiten_factor(const at::Tensor& factor, const at::Tensor& log_precision);

}  // namespace ockham
