// Private to assess: what every assessment asks of its tensors, said in the same words.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

/// The values as contiguous float64 without a graph. Throws Error(usage) when the tensor is undefined, holds no
/// floating-point numbers or has not `dimensions` dimensions, and Error(data) when it is empty or has a NaN.
at::Tensor checked_values(const at::Tensor& values, const char* name, int64_t dimensions);

/// The same for values that must be finite.
at::Tensor checked_finite(const at::Tensor& values, const char* name, int64_t dimensions);

}  // namespace ockham
