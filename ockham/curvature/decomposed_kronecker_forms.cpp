// Quadratic forms of a Kronecker block in the derivatives of H: xᵀ(∂H/∂η)x.
#include <ATen/ATen.h>

#include <cmath>

#include "ockham/curvature/decomposed_kronecker.h"

namespace ockham {
namespace {

/// <x, left x right> for x [d0, d1]; factors [d] are diagonal.
double form(const at::Tensor& x, const at::Tensor& left, const at::Tensor& right) {
  const at::Tensor half = right.dim() == 1 ? x * right : x.mm(right);
  return (x * (left.dim() == 1 ? left.unsqueeze(1) * half : left.mm(half))).sum().item<double>();
}

at::Tensor shifted(const at::Tensor& factor, double scale, double shift) {
  at::Tensor result = factor * scale;
  (factor.dim() == 1 ? result : result.diagonal()).add_(shift);
  return result;
}

}  // namespace

at::Tensor DecomposedKronecker::factor_at(MovingFactor& factor, const PrecisionPoint& point) {
  if (factor.derivative_count() == 0 || !point.root_shift.defined()) return factor.matrix({});
  return uniform() ? recompose(factor.vectors(), factor.values(point.root_shift)) : factor.matrix(point.root_shift);
}

at::Tensor DecomposedKronecker::derivative_at(MovingFactor& factor, int64_t m, const PrecisionPoint& point) {
  if (uniform() && point.root_shift.defined()) {
    return recompose(factor.vectors(), factor.value_derivatives(point.root_shift)[m]);
  }
  return factor.matrix_derivative(m, point.root_shift);
}

double DecomposedKronecker::curvature_form(const PrecisionPoint& point, const at::Tensor& vector) {
  const at::Tensor parts = split(vector.unsqueeze(0))[0];
  double total = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const at::Tensor x = parts[static_cast<int64_t>(g)];
    const at::Tensor left = factor_at(groups_[g].left, point), right = factor_at(groups_[g].right, point);
    if (!damping_) {
      total += point.scale * form(x, left, right);
      continue;
    }
    const double scale = std::sqrt(point.scale), precision = std::sqrt(uniform_precision(point));
    total += 0.5 * (form(x, left * scale, shifted(right, scale, precision)) +
                    form(x, shifted(left, scale, precision), right * scale));
  }
  return total;
}

void DecomposedKronecker::add_prior_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_group) {
  if (!damping_) {
    span_.accumulate(span_.log_precision(point.log_prior_precision).exp() * vector * vector, by_group);
    return;
  }
  const at::Tensor parts = split(vector.unsqueeze(0))[0];
  const double scale = std::sqrt(point.scale), precision = std::sqrt(uniform_precision(point));
  for (size_t g = 0; g < groups_.size(); ++g) {
    const at::Tensor x = parts[static_cast<int64_t>(g)];
    const at::Tensor left = factor_at(groups_[g].left, point), right = factor_at(groups_[g].right, point);
    const at::Tensor ones_left = at::ones({x.size(0)}, x.options()), ones_right = at::ones({x.size(1)}, x.options());
    by_group[span_.uniform_group()] +=
        0.5 * precision *
        (form(x, ones_left, shifted(right, scale, precision)) + form(x, shifted(left, scale, precision), ones_right));
  }
}

void DecomposedKronecker::add_root_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_root) {
  const at::Tensor parts = split(vector.unsqueeze(0))[0];
  for (size_t g = 0; g < groups_.size(); ++g) {
    const at::Tensor x = parts[static_cast<int64_t>(g)];
    Group& group = groups_[g];
    at::Tensor other = factor_at(group.gradient_left ? group.right : group.left, point);
    double scale = point.scale;
    if (damping_) {
      scale = std::sqrt(point.scale);
      other = shifted(other, scale, std::sqrt(uniform_precision(point)));
    }
    for (int64_t m = 0; m < derivative_count(); ++m) {
      const at::Tensor derivative = derivative_at(group.gradient(), m, point);
      by_root[m] += scale * (group.gradient_left ? form(x, derivative, other) : form(x, other, derivative));
    }
  }
}

}  // namespace ockham
