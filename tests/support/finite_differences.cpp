#include "tests/support/finite_differences.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ockham::testing {

at::Tensor finite_difference_gradient(const std::function<double(const at::Tensor&)>& function, const at::Tensor& at,
                                      double step) {
  at::Tensor gradient = at::empty_like(at).contiguous();
  for (int64_t i = 0; i < at.numel(); ++i) {
    const auto value_at = [&](double shift) {
      at::Tensor moved = at.clone().contiguous();
      moved.view(-1)[i] += shift;
      return function(moved);
    };
    gradient.view(-1)[i] =
        (8 * (value_at(step) - value_at(-step)) - (value_at(2 * step) - value_at(-2 * step))) / (12 * step);
  }
  return gradient;
}

double relative_difference(const at::Tensor& actual, const at::Tensor& expected) {
  if (!actual.defined() || actual.sizes() != expected.sizes()) return std::numeric_limits<double>::infinity();
  if (actual.numel() == 0) return 0;
  const at::Tensor a = actual.to(at::kDouble), b = expected.to(at::kDouble);
  const double difference = ((a - b).abs() / b.abs().clamp_min(1)).max().item<double>();
  return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
}

double relative_difference(double actual, double expected) {
  const double difference = std::abs(actual - expected) / std::max(1.0, std::abs(expected));
  return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
}

double relative_mismatch(const at::Tensor& actual, const at::Tensor& expected) {
  if (!actual.defined() || actual.sizes() != expected.sizes()) return std::numeric_limits<double>::infinity();
  if (actual.numel() == 0) return 0;
  const at::Tensor a = actual.to(at::kDouble), b = expected.to(at::kDouble);
  const double smallest = std::max(b.abs().max().item<double>() / 1000, std::numeric_limits<double>::min());
  const double mismatch = ((a - b).abs() / b.abs().clamp_min(smallest)).max().item<double>();
  return std::isfinite(mismatch) ? mismatch : std::numeric_limits<double>::infinity();
}

double relative_mismatch(double actual, double expected) {
  return relative_mismatch(at::tensor({actual}, at::kDouble), at::tensor({expected}, at::kDouble));
}

}  // namespace ockham::testing
