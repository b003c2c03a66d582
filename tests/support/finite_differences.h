// Derivatives by finite differences, the bottom rung that every closed formula is checked against, and how to compare.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace ockham::testing {

/// df/dx by five-point central differences (error h⁴); x is a float64 tensor of any shape, and so is the result.
at::Tensor finite_difference_gradient(const std::function<double(const at::Tensor&)>& function, const at::Tensor& at,
                                      double step = 1e-3);

/// Largest |a - b| / max(1, |b|) over the entries; infinite when the shapes differ or an entry is not finite.
double relative_difference(const at::Tensor& actual, const at::Tensor& expected);
double relative_difference(double actual, double expected);

/// Largest |a - b| / max(|b|, b_max / 1000) over the entries: relative, entry by entry, but for entries that nearly
/// cancel. Infinite when the shapes differ or an entry is not finite.
double relative_mismatch(const at::Tensor& actual, const at::Tensor& expected);
double relative_mismatch(double actual, double expected);

}  // namespace ockham::testing
