// Symmetric matrices of which BLAS and LAPACK compute one triangle.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

/// Copies the lower triangle of a float64 [n, n] onto the upper one, in place. Any strides.
void mirror_lower(at::Tensor& matrix);

/// The symmetric float64 matrix of the lower triangle of a contiguous float32 [n, n].
at::Tensor symmetric_from_lower(const at::Tensor& lower);

/// factor · matrix for a float64 [n, n], on two threads where they pay.
at::Tensor scaled_copy(const at::Tensor& matrix, double factor);

}  // namespace ockham
