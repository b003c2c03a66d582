#include "ockham/curvature/decomposed_diagonal.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ockham/linalg/log_sum.h"

namespace ockham {

at::Tensor DecomposedDiagonal::precision_at(const PrecisionPoint& point) {
  return at::add(span_.log_precision(point.log_prior_precision).exp(), diagonal_.values(point.root_shift), point.scale);
}

LogSum DecomposedDiagonal::sum_over(size_t index, const at::Tensor& values, double scale, double precision) {
  const BlockSpan::Run& run = span_.runs()[index];
  const at::Tensor part = values.narrow(0, run.first, run.size);
  if (evaluations_ <= kEvaluationsForBins || run.size < kValuesForBins) return log_sum(part, scale, precision);
  bins_.resize(span_.runs().size());
  if (!bins_[index]) bins_[index].emplace(part);
  return bins_[index]->usable() ? bins_[index]->log_sum(scale, precision) : log_sum(part, scale, precision);
}

void DecomposedDiagonal::add_log_determinant(const PrecisionPoint& point, LogDeterminant& total) {
  const bool at_pass = !point.root_shift.defined();
  if (at_pass) ++evaluations_;
  const at::Tensor values = diagonal_.values(point.root_shift);
  double* by_group = total.gradient_log_prior_precision.data_ptr<double>();
  for (size_t index = 0; index < span_.runs().size(); ++index) {
    const BlockSpan::Run& run = span_.runs()[index];
    const double precision = std::exp(point.log_prior_precision.data_ptr<double>()[run.group]);
    const LogSum sums = at_pass ? sum_over(index, values, point.scale, precision)
                                : log_sum(values.narrow(0, run.first, run.size), point.scale, precision);
    const double trace = precision * sums.reciprocal;
    total.value += sums.log;
    by_group[run.group] += trace;
    total.gradient_log_scale += static_cast<double>(run.size) - trace;
  }
  if (span_.runs().empty()) {
    const at::Tensor prior = span_.log_precision(point.log_prior_precision).exp();
    const at::Tensor precision = at::add(prior, values, point.scale);
    total.value += precision.log().sum().item<double>();
    span_.accumulate(prior / precision, total.gradient_log_prior_precision);
    total.gradient_log_scale += point.scale * (values / precision).sum().item<double>();
  }
  if (derivative_count() == 0) return;
  total.gradient_root.add_(diagonal_.value_derivatives(point.root_shift).mv(point.scale / precision_at(point)));
}

at::Tensor DecomposedDiagonal::solve(const PrecisionPoint& point, const at::Tensor& rows) {
  return rows / precision_at(point);
}

double DecomposedDiagonal::curvature_form(const PrecisionPoint& point, const at::Tensor& vector) {
  return point.scale * at::dot(diagonal_.values(point.root_shift), vector * vector).item<double>();
}

void DecomposedDiagonal::add_prior_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_group) {
  span_.accumulate(span_.log_precision(point.log_prior_precision).exp() * vector * vector, by_group);
}

void DecomposedDiagonal::add_root_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_root) {
  if (derivative_count() == 0) return;
  by_root.add_(diagonal_.value_derivatives(point.root_shift).mv(vector * vector), point.scale);
}

at::Tensor DecomposedDiagonal::covariance(const PrecisionPoint& point, const at::Tensor& jacobian) {
  const at::Tensor whitened = jacobian / precision_at(point).sqrt();
  return at::bmm(whitened, whitened.transpose(1, 2));
}

at::Tensor DecomposedDiagonal::apply_root(const PrecisionPoint& point, const at::Tensor& rows, bool) {
  return rows / precision_at(point).sqrt();
}

at::Tensor DecomposedDiagonal::sample(const PrecisionPoint& point, int64_t samples, at::Generator generator) {
  return at::randn({samples, span_.size()}, generator, at::kDouble) / precision_at(point).sqrt();
}

}  // namespace ockham
