// Σ log(s·q_i·w_j + δ) and Σ 1/(s·q_i·w_j + δ) over an outer product, in one fused pass without temporaries.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

struct LogSum {
  double log = 0;         // Σ log(s x + δ)
  double reciprocal = 0;  // Σ 1 / (s x + δ)
};

/// q [a], w [b] float64, non-negative; s, δ > 0.
LogSum log_sum_outer(const at::Tensor& q, const at::Tensor& w, double scale, double shift);
/// x [n] float64.
LogSum log_sum(const at::Tensor& x, double scale, double shift);

}  // namespace ockham
