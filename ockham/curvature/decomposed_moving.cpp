#include "ockham/curvature/decomposed_moving.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ockham/linalg/symmetric_eigen.h"

namespace ockham {
namespace {

constexpr double kNegligible = 1e-14;  // of the largest eigenvalue: round-off, which has no direction to move in

at::Tensor negligible(const at::Tensor& values) { return values <= values.max() * kNegligible; }

}  // namespace

MovingFactor::MovingFactor(at::Tensor factor, std::vector<at::Tensor> derivatives, EigenStore& store)
    : factor_(std::move(factor)), derivatives_(std::move(derivatives)), store_(store) {
  if (diagonal()) {
    clipped_diagonal_ = factor_.clone();
    store_.count_clipped(clip_negative(clipped_diagonal_));
  } else {
    index_ = store_.add(factor_);
  }
}

bool MovingFactor::is_zero() const { return factor_.count_nonzero().item<int64_t>() == 0; }

at::Tensor MovingFactor::vectors() { return diagonal() ? at::Tensor() : store_.vectors(index_); }

const at::Tensor& MovingFactor::log_slopes() {
  if (!log_slopes_.defined()) {
    const at::Tensor values = this->values({});
    const at::Tensor small = negligible(values);
    std::vector<at::Tensor> rows;
    for (const at::Tensor& derivative : derivatives_) {
      rows.push_back((rotated_diagonal(vectors(), derivative) / values).masked_fill(small, 0));
    }
    log_slopes_ = at::stack(rows);
  }
  return log_slopes_;
}

at::Tensor MovingFactor::values(const at::Tensor& shift) {
  const at::Tensor& at_pass = diagonal() ? clipped_diagonal_ : store_.values(index_);
  return shift.defined() ? at_pass * shift.matmul(log_slopes()).exp() : at_pass;
}

at::Tensor MovingFactor::value_derivatives(const at::Tensor& shift) { return log_slopes() * values(shift); }

void MovingFactor::prepare_congruence() {
  if (root_.defined()) return;
  const at::Tensor values = store_.values(index_);
  const at::Tensor vectors = store_.vectors(index_);
  root_ = vectors * values.sqrt();
  const at::Tensor inverse_root = vectors * values.rsqrt().masked_fill(negligible(values), 0);
  slope_ = inverse_root.t().mm(derivatives_[0]).mm(inverse_root);
  slope_.diagonal().add_(2);
}

at::Tensor MovingFactor::matrix(const at::Tensor& shift) {
  if (!shift.defined()) return diagonal() ? clipped_diagonal_ : factor_;
  if (diagonal()) return values(shift);
  if (derivatives_.size() == 1) {
    prepare_congruence();
    const double t = shift.item<double>();
    at::Tensor middle = 0.5 * t * slope_;
    middle.diagonal().add_(1);
    const at::Tensor half = root_.mm(middle);
    return half.mm(half.t()) * std::exp(-2 * t);
  }
  at::Tensor moved = factor_.clone();
  for (size_t m = 0; m < derivatives_.size(); ++m) {
    moved.add_(derivatives_[m], -0.5 * std::expm1(-2 * shift[m].item<double>()));
  }
  return moved;
}

at::Tensor MovingFactor::matrix_derivative(int64_t m, const at::Tensor& shift) {
  if (!shift.defined()) return derivatives_[m];
  if (diagonal()) return value_derivatives(shift)[m];
  if (derivatives_.size() == 1) {
    prepare_congruence();
    const double t = shift.item<double>();
    at::Tensor middle = 0.5 * t * slope_;
    middle.diagonal().add_(1);
    // d/dt of (I + ½tK)² is K (I + ½tK), symmetric because both are functions of K.
    const at::Tensor inner = slope_.mm(middle) - 2 * middle.mm(middle);
    return root_.mm(inner).mm(root_.t()) * std::exp(-2 * t);
  }
  return derivatives_[m] * std::exp(-2 * shift[m].item<double>());
}

at::Tensor recompose(const at::Tensor& vectors, const at::Tensor& values) {
  return vectors.defined() ? (vectors * values).mm(vectors.t()) : values;
}

at::Tensor rotated_diagonal(const at::Tensor& vectors, const at::Tensor& matrix) {
  if (!vectors.defined()) return matrix;
  if (vectors.dim() == 1) return vectors.square() * matrix;
  return (vectors * matrix.mm(vectors)).sum(0);
}

}  // namespace ockham
