// Cholesky factors of positive definite matrices: log determinant, inverse, solves. One BLAS thread below n = 1000.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

/// Lower factor of a float64 [n, n]; throws Error(numerical) naming `what` when it is not positive definite or not
/// finite.
at::Tensor cholesky(const at::Tensor& matrix, const char* what);
double log_determinant_of_factor(const at::Tensor& factor);
at::Tensor inverse_from_factor(const at::Tensor& factor);  // symmetric [n, n]

}  // namespace ockham
