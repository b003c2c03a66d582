// A diagonal block, H = s·diag(h) + D: log|H| = Σ log(s h_i + δ_i). Away from the pass h moves log-linearly
// (decomposed_moving.h).
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "ockham/curvature/curvature.h"
#include "ockham/curvature/decomposed_moving.h"
#include "ockham/curvature/decomposed_point.h"
#include "ockham/curvature/decomposed_span.h"
#include "ockham/linalg/binned_spectrum.h"

namespace ockham {

class DecomposedDiagonal {
 public:
  DecomposedDiagonal(const DiagonalBlock& block, BlockSpan span, EigenStore& store)
      : span_(std::move(span)), diagonal_(block.diagonal, block.derivatives, store) {}

  const BlockSpan& span() const { return span_; }
  int64_t derivative_count() const { return diagonal_.derivative_count(); }
  bool is_zero() const { return diagonal_.is_zero(); }

  // As in DecomposedMatrix.
  void add_log_determinant(const PrecisionPoint& point, LogDeterminant& total);
  at::Tensor solve(const PrecisionPoint& point, const at::Tensor& rows);
  double curvature_form(const PrecisionPoint& point, const at::Tensor& vector);
  void add_prior_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_group);
  void add_root_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_root);
  at::Tensor covariance(const PrecisionPoint& point, const at::Tensor& jacobian);
  BlockCovariance output_covariance(const PrecisionPoint& point, at::ScalarType type);
  at::Tensor apply_root(const PrecisionPoint& point, const at::Tensor& rows, bool transposed);
  at::Tensor sample(const PrecisionPoint& point, int64_t samples, at::Generator generator);

 private:
  at::Tensor precision_at(const PrecisionPoint& point);  // s h + δ [p]
  /// Σ log(s h_i + δ) and Σ 1/(s h_i + δ) over a run of the span.
  LogSum sum_over(size_t run, const at::Tensor& values, double scale, double precision);

  BlockSpan span_;
  MovingFactor diagonal_;
  int64_t evaluations_ = 0;
  std::vector<std::optional<BinnedSpectrum>> bins_;  // by run, after several evaluations at the pass
};

}  // namespace ockham
