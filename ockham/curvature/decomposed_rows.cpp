#include "ockham/curvature/decomposed_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/curvature/decomposed_majority.h"
#include "ockham/curvature/decomposed_moving.h"
#include "ockham/linalg/cholesky.h"
#include "ockham/linalg/gram.h"
#include "ockham/linalg/log_sum.h"
#include "ockham/linalg/symmetric_eigen.h"

namespace ockham {
namespace {

// As in decomposed_matrix.cpp: when a decomposition of m × m would have been as cheap as what was spent.
constexpr int64_t kAlwaysDecompose = 128;
constexpr int64_t kEvaluationsBeforeValues = 5;
constexpr int64_t kEvaluationsBeforeVectors = 8;
constexpr const char* kWhat = "posterior precision in the space of the outputs";

at::Tensor add_identity(at::Tensor matrix) {
  matrix.diagonal().add_(1);
  return matrix;
}

}  // namespace

DecomposedRows::DecomposedRows(const DenseBlock& block, BlockSpan span, EigenStore& store)
    : span_(std::move(span)),
      multiplier_(block.factor),
      rows_(block.rows),
      derivatives_(block.row_derivatives),
      store_(store) {
  int64_t first = 0;
  for (size_t parameter : block.parameters) {
    for (const RowFactors& factors : block.row_factors) {
      if (factors.parameter == parameter) factors_.emplace(first, factors);
    }
    first += span_.size_of(parameter);
  }
}

bool DecomposedRows::is_zero() const { return multiplier_ == 0 || rows_.count_nonzero().item<int64_t>() == 0; }

at::Tensor DecomposedRows::rows_at(const PrecisionPoint& point) const {
  if (!point.root_shift.defined()) return rows_;
  at::Tensor moved = rows_.clone();
  for (size_t m = 0; m < derivatives_.size(); ++m) moved.add_(derivatives_[m], point.root_shift[m].item<double>());
  return moved;
}

void DecomposedRows::add_log_determinant(const PrecisionPoint& point, LogDeterminant& total) {
  ++evaluations_;
  if (point.root_shift.defined()) return add_directly(point, total);
  if (choose_majority()) return add_by_majority(point, total);
  if (choose_whitening() && add_by_whitening(point, total)) return;
  if (choose_grams()) return add_by_grams(point, total);
  add_directly(point, total);
}

at::Tensor DecomposedRows::gram_of(const BlockSpan::Run& run) const {
  const auto found = factors_.find(run.first);
  // A run of several parameters is no single product.
  if (found == factors_.end() || run.size != found->second.left.size(1) * found->second.right.size(1))
    return gram(rows_.narrow(1, run.first, run.size).t());
  const auto gram_of_factor = [&](const at::Tensor& factor) {
    const at::Tensor product = gram(factor.t());
    const int64_t columns = rows_.size(0) / factor.size(0);
    return columns == 1 ? product : product.repeat_interleave(columns, 0).repeat_interleave(columns, 1);
  };
  return gram_of_factor(found->second.left).mul_(gram_of_factor(found->second.right));
}

bool DecomposedRows::choose_grams() {
  if (grams_.defined()) return true;
  gram_groups_.clear();
  for (const BlockSpan::Run& run : span_.runs()) gram_groups_.push_back(run.group);
  std::sort(gram_groups_.begin(), gram_groups_.end());
  gram_groups_.erase(std::unique(gram_groups_.begin(), gram_groups_.end()), gram_groups_.end());
  const int64_t m = rows_.size(0);
  const int64_t count = static_cast<int64_t>(gram_groups_.size());
  // Many precisions: the Gram matrices would take several times the rows' memory, and to add them up as long as a
  // product.
  if (count == 0 || (count > 1 && count * m > 4 * span_.size())) return false;
  grams_ = at::empty({count, m, m}, at::kDouble);
  std::vector<bool> begun(count, false);
  gram_weights_ = at::zeros({count}, at::kDouble);
  cross_grams_ = at::zeros({derivative_count(), count, m, m}, at::kDouble);
  for (const BlockSpan::Run& run : span_.runs()) {
    const int64_t g = std::lower_bound(gram_groups_.begin(), gram_groups_.end(), run.group) - gram_groups_.begin();
    const at::Tensor columns = rows_.narrow(1, run.first, run.size);
    if (begun[g])
      grams_[g].add_(gram_of(run));
    else
      grams_[g].copy_(gram_of(run));
    begun[g] = true;
    gram_weights_[g] += run.size;
    for (int64_t k = 0; k < derivative_count(); ++k) {
      cross_grams_[k][g].addmm_(derivatives_[k].narrow(1, run.first, run.size), columns.t());
    }
  }
  grams_ = grams_.view({count, m * m});
  cross_grams_ = cross_grams_.view({derivative_count(), count, m * m});
  return true;
}

bool DecomposedRows::choose_majority() {
  if (majority_.group >= 0) return true;
  const int64_t m = rows_.size(0);
  const bool uniform = span_.uniform_group() >= 0;
  const bool vectors = !uniform || derivative_count() > 0;
  if (m > kAlwaysDecompose && evaluations_ <= (vectors ? kEvaluationsBeforeVectors : kEvaluationsBeforeValues)) {
    return false;
  }
  if (!uniform && derivative_count() > 0) return false;
  const Majority majority = majority_group(span_);
  if (majority.group < 0 || 2 * majority.rest.numel() > m) return false;

  const at::Tensor main = uniform ? rows_ : rows_.index_select(1, majority.main);
  SymmetricEigen eigen = symmetric_eigen({gram(main.t())}, vectors)[0];
  store_.count_clipped(clip_negative(eigen.values));
  majority_.values = eigen.values;
  if (!uniform) majority_.rotated = eigen.vectors.t().mm(rows_.index_select(1, majority.rest));
  if (derivative_count() > 0) {
    std::vector<at::Tensor> slopes;
    for (const at::Tensor& derivative : derivatives_) {
      slopes.push_back(rotated_diagonal(eigen.vectors, derivative.mm(rows_.t())));
    }
    majority_.slopes = at::stack(slopes);
  }
  majority_.weights = majority.main.numel();
  majority_.rest = majority.rest;
  majority_.group = majority.group;
  return true;
}

void DecomposedRows::add_by_majority(const PrecisionPoint& point, LogDeterminant& total) {
  const double scale = point.scale * multiplier_;
  const double precision = std::exp(point.log_prior_precision.data_ptr<double>()[majority_.group]);
  const int64_t m = rows_.size(0);
  const at::Tensor& values = majority_.values;
  const LogSum sums = log_sum(values, scale, precision);
  double main_trace = static_cast<double>(majority_.weights - m) + precision * sums.reciprocal;
  total.value += static_cast<double>(majority_.weights - m) * std::log(precision) + sums.log;
  const double* value = values.data_ptr<double>();
  for (int64_t i = 0; i < m; ++i) total.gradient_log_scale += scale * value[i] / (scale * value[i] + precision);

  if (majority_.rest.numel() > 0) {
    const at::Tensor log_precision = span_.log_precision(point.log_prior_precision).index_select(0, majority_.rest);
    const at::Tensor shrink = precision / (scale * values + precision);  // E
    const at::Tensor weighted =
        majority_.rotated * (scale * shrink).sqrt().unsqueeze(1) * (-0.5 * log_precision).exp();  // E^½ Ψ
    const at::Tensor factor = cholesky(add_identity(weighted.t().mm(weighted)), kWhat);
    const at::Tensor inverse = inverse_from_factor(factor);
    total.value += log_precision.sum().item<double>() + log_determinant_of_factor(factor);
    // What the others take away from the explained part of the main weights: (s/δ) Σ Λ_i E_i² (Ψ C⁻¹ Ψᵀ)_ii.
    const at::Tensor taken = shrink * (weighted.mm(inverse) * weighted).sum(1);
    const double lost = scale / precision * at::dot(values, taken).item<double>();
    main_trace += lost;
    total.gradient_log_scale += (1 - inverse.diagonal()).sum().item<double>() - lost;
    at::Tensor by_weight = at::zeros({span_.size()}, at::kDouble);
    by_weight.index_copy_(0, majority_.rest, inverse.diagonal());
    span_.accumulate(by_weight, total.gradient_log_prior_precision);
  }
  total.gradient_log_prior_precision.data_ptr<double>()[majority_.group] += main_trace;
  if (derivative_count() > 0) {
    total.gradient_root.add_(majority_.slopes.mv(2 * scale / (scale * values + precision)));
  }
}

void DecomposedRows::add_by_grams(const PrecisionPoint& point, LogDeterminant& total) {
  const double scale = point.scale * multiplier_;
  const int64_t m = rows_.size(0);
  const at::Tensor groups = at::tensor(gram_groups_, at::kLong);
  const at::Tensor log_precision = point.log_prior_precision.index_select(0, groups);
  const at::Tensor weights = scale * (-log_precision).exp();  // s/δ_g
  const at::Tensor factor = cholesky(add_identity(weights.matmul(grams_).view({m, m})), kWhat);
  const at::Tensor inverse = inverse_from_factor(factor).reshape(-1);
  total.value += at::dot(gram_weights_, log_precision).item<double>() + log_determinant_of_factor(factor);
  const at::Tensor explained = weights * grams_.mv(inverse);
  total.gradient_log_prior_precision.index_add_(0, groups, gram_weights_ - explained);
  total.gradient_log_scale += explained.sum().item<double>();
  for (int64_t k = 0; k < derivative_count(); ++k) {
    total.gradient_root[k] += 2 * at::dot(weights, cross_grams_[k].mv(inverse)).item<double>();
  }
}

void DecomposedRows::add_directly(const PrecisionPoint& point, LogDeterminant& total) {
  const double scale = point.scale * multiplier_;
  const at::Tensor log_precision = span_.log_precision(point.log_prior_precision);
  const at::Tensor inverse_root = (-0.5 * log_precision).exp() * std::sqrt(scale);
  const at::Tensor weighted = rows_at(point) * inverse_root;  // √s Φ D^-½
  const at::Tensor factor = cholesky(add_identity(weighted.mm(weighted.t())), kWhat);
  const at::Tensor solved = at::linalg_solve_triangular(factor, weighted, /*upper=*/false);  // Y
  const at::Tensor explained = (solved * solved).sum(0);
  total.value += log_precision.sum().item<double>() + log_determinant_of_factor(factor);
  span_.accumulate(1 - explained, total.gradient_log_prior_precision);
  total.gradient_log_scale += explained.sum().item<double>();
  if (derivative_count() == 0) return;
  const at::Tensor twice_solved = at::linalg_solve_triangular(factor.t(), solved, /*upper=*/true) * inverse_root;
  for (int64_t k = 0; k < derivative_count(); ++k) {
    total.gradient_root[k] += 2 * (twice_solved * derivatives_[k]).sum().item<double>();
  }
}

const DecomposedRows::Woodbury& DecomposedRows::woodbury_at(const PrecisionPoint& point) {
  if (remembered_.same(point)) return woodbury_;
  try {
    const at::Tensor precision = span_.log_precision(point.log_prior_precision).exp();
    const at::Tensor rows = rows_at(point) * std::sqrt(point.scale * multiplier_);
    const at::Tensor scaled = rows / precision;
    woodbury_ = {precision, scaled, cholesky(add_identity(scaled.mm(rows.t())), kWhat)};
  } catch (...) {
    remembered_.forget();
    throw;
  }
  return woodbury_;
}

at::Tensor DecomposedRows::solve(const PrecisionPoint& point, const at::Tensor& rows) {
  const Woodbury& parts = woodbury_at(point);
  const at::Tensor outputs = at::cholesky_solve(parts.scaled_rows.mm(rows.t()), parts.factor);
  return rows / parts.precision - outputs.t().mm(parts.scaled_rows);
}

double DecomposedRows::curvature_form(const PrecisionPoint& point, const at::Tensor& vector) {
  return point.scale * multiplier_ * rows_at(point).mv(vector).square().sum().item<double>();
}

void DecomposedRows::add_prior_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_group) {
  span_.accumulate(span_.log_precision(point.log_prior_precision).exp() * vector * vector, by_group);
}

void DecomposedRows::add_root_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_root) {
  if (derivative_count() == 0) return;
  const at::Tensor outputs = rows_at(point).mv(vector);
  for (int64_t k = 0; k < derivative_count(); ++k) {
    by_root[k] += 2 * point.scale * multiplier_ * at::dot(outputs, derivatives_[k].mv(vector)).item<double>();
  }
}

at::Tensor DecomposedRows::covariance(const PrecisionPoint& point, const at::Tensor& jacobian) {
  return covariance(woodbury_at(point), jacobian);
}

at::Tensor DecomposedRows::covariance(const Woodbury& parts, const at::Tensor& jacobian) {
  const int64_t examples = jacobian.size(0), outputs = jacobian.size(1);
  const at::Tensor flat = jacobian.flatten(0, 1);
  const at::Tensor prior = at::bmm(jacobian / parts.precision, jacobian.transpose(1, 2));
  const at::Tensor learned = at::linalg_solve_triangular(parts.factor, parts.scaled_rows.mm(flat.t()), /*upper=*/false)
                                 .t()
                                 .reshape({examples, outputs, -1});
  return prior - at::bmm(learned, learned.transpose(1, 2));
}

at::Tensor DecomposedRows::sample(const PrecisionPoint& point, int64_t samples, at::Generator generator) {
  const Woodbury& parts = woodbury_at(point);
  // Matheron's rule: a prior sample, corrected by what a sample of unit noise on √s Φ θ says about it.
  const at::Tensor prior = at::randn({samples, span_.size()}, generator, at::kDouble) / parts.precision.sqrt();
  const at::Tensor noise = at::randn({rows_.size(0), samples}, generator, at::kDouble);
  const at::Tensor observed = (parts.scaled_rows * parts.precision).mm(prior.t()) + noise;
  return prior - at::cholesky_solve(observed, parts.factor).t().mm(parts.scaled_rows);
}

}  // namespace ockham
