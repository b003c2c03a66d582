// A diagonal block, H = s·diag(h) + D: log|H| = Σ log(s h_i + δ_i). Away from the pass h moves log-linearly
// (decomposed_moving.h).
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "ockham/curvature/curvature.h"
#include "ockham/curvature/decomposed_moving.h"
#include "ockham/curvature/decomposed_point.h"
#include "ockham/curvature/decomposed_span.h"

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
  at::Tensor sample(const PrecisionPoint& point, int64_t samples, at::Generator generator);

 private:
  at::Tensor precision_at(const PrecisionPoint& point);  // s h + δ [p]

  BlockSpan span_;
  MovingFactor diagonal_;
};

}  // namespace ockham
