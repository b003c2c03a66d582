#include "ockham/linalg/resolvent_gram.h"

#include <ATen/ATen.h>

#include <cmath>
#include <utility>

#include "ockham/linalg/gram.h"

namespace ockham {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int64_t kPoints = 12;
constexpr double kHalfWidth = 0.25;
constexpr int64_t kDirectEvaluations = 6;  // two products each: together what the points of a window cost

double angle_of(int64_t point) { return kPi * (static_cast<double>(point) + 0.5) / static_cast<double>(kPoints); }

/// Rows: the weights of the points' values in the interpolant at x in [-1, 1], and in its derivative. By
/// ℓ_j(x) = (1 + 2 Σ_k T_k(x_j) T_k(x)) / kPoints, T_k' = k U_{k-1}.
at::Tensor interpolation_weights(double x) {
  at::Tensor weights = at::empty({2, kPoints}, at::kDouble);
  double* value = weights.data_ptr<double>();
  double* derivative = value + kPoints;
  for (int64_t j = 0; j < kPoints; ++j) {
    double chebyshev = 1, next_chebyshev = x, second = 0, next_second = 1;  // T_{k-1}, T_k, U_{k-2}, U_{k-1}
    value[j] = 1;
    derivative[j] = 0;
    for (int64_t k = 1; k < kPoints; ++k) {
      const double at_point = 2 * std::cos(static_cast<double>(k) * angle_of(j));
      value[j] += at_point * next_chebyshev;
      derivative[j] += at_point * static_cast<double>(k) * next_second;
      chebyshev = std::exchange(next_chebyshev, 2 * x * next_chebyshev - chebyshev);
      second = std::exchange(next_second, 2 * x * next_second - second);
    }
  }
  return weights.div_(static_cast<double>(kPoints));
}

}  // namespace

ResolventGram::ResolventGram(at::Tensor values, at::Tensor columns)
    : values_(std::move(values)), columns_(std::move(columns)) {}

ResolventGram::Value ResolventGram::at(double log_shift) {
  if (window_.defined() && within_window(log_shift)) return interpolated(log_shift);
  if (window_.defined() || evaluations_ == 0 || !within_window(log_shift)) {
    window_ = at::Tensor();
    centre_ = log_shift;
    evaluations_ = 0;
  }
  if (++evaluations_ <= kDirectEvaluations) return directly(log_shift);
  open_window(log_shift);
  return interpolated(log_shift);
}

bool ResolventGram::within_window(double log_shift) const { return std::abs(log_shift - centre_) <= kHalfWidth; }

at::Tensor ResolventGram::gram_at(double log_shift) const {
  return gram(columns_ * (values_ + std::exp(log_shift)).rsqrt().unsqueeze(1));
}

ResolventGram::Value ResolventGram::directly(double log_shift) const {
  const double shift = std::exp(log_shift);
  return {gram_at(log_shift), gram(columns_ * (std::sqrt(shift) / (values_ + shift)).unsqueeze(1))};
}

void ResolventGram::open_window(double centre) {
  centre_ = centre;
  window_ = at::empty({kPoints, columns_.size(1) * columns_.size(1)}, at::kDouble);
  for (int64_t j = 0; j < kPoints; ++j)
    window_[j].copy_(gram_at(centre_ + kHalfWidth * std::cos(angle_of(j))).reshape(-1));
}

ResolventGram::Value ResolventGram::interpolated(double log_shift) const {
  at::Tensor weights = interpolation_weights((log_shift - centre_) / kHalfWidth);
  weights[1].div_(-kHalfWidth);
  const int64_t size = columns_.size(1);
  const at::Tensor both = weights.mm(window_).view({2, size, size});
  return {both[0], both[1]};
}

}  // namespace ockham
