// Ranks and Spearman's rank correlation, with ties by average ranks.
// Values are [N] floating point; infinite ones are ordered like any other. Throws Error(usage) for wrong types and
// shapes, Error(data) for empty input and NaN.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

/// Ranks 1 .. N as float64 [N]; equal values share the mean of their ranks.
at::Tensor average_ranks(const at::Tensor& values);

/// Spearman's ρ: Pearson's correlation of the average ranks, in [-1, 1]. Needs two values or more, and throws
/// Error(data) when all values of one side are equal: ρ is not defined there.
double spearman_correlation(const at::Tensor& first, const at::Tensor& second);

}  // namespace ockham
