#include "ockham/curvature/decomposed_matrix.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/curvature/decomposed_majority.h"
#include "ockham/linalg/cholesky.h"
#include "ockham/linalg/log_sum.h"
#include "ockham/linalg/mirror.h"
#include "ockham/linalg/symmetric_eigen.h"
#include "ockham/linalg/triangular_inverse.h"

namespace ockham {
namespace {

constexpr int64_t kAlwaysDecompose = 128;  // below this size an eigendecomposition costs next to nothing
// Evaluations by Cholesky after which a decomposition would have been as cheap (measured, n = 500 to 2000).
constexpr int64_t kEvaluationsBeforeValues = 5;
constexpr int64_t kEvaluationsBeforeVectors = 8;
// What single precision may leave of a Gram matrix's zero eigenvalues, of the largest one.
constexpr double kRoundOff = 1e-5;

}  // namespace

DecomposedMatrix::DecomposedMatrix(const DenseBlock& block, BlockSpan span, EigenStore& store)
    : span_(std::move(span)),
      multiplier_(block.factor),
      factor_(block.matrix, block.matrix_derivatives, store),
      store_(store) {}

bool DecomposedMatrix::is_zero() const { return multiplier_ == 0 || factor_.is_zero(); }

void DecomposedMatrix::list_decompositions(std::vector<size_t>& with_vectors, std::vector<size_t>& values_only) const {
  if (span_.uniform_group() < 0 || span_.size() > kAlwaysDecompose) return;
  (derivative_count() > 0 ? with_vectors : values_only).push_back(factor_.index());
}

bool DecomposedMatrix::choose_eigenvalues() {
  if (span_.uniform_group() < 0) return false;
  const bool vectors = derivative_count() > 0;
  return store_.has_values(factor_.index()) || span_.size() <= kAlwaysDecompose ||
         evaluations_ > (vectors ? kEvaluationsBeforeVectors : kEvaluationsBeforeValues);
}

bool DecomposedMatrix::choose_schur() {
  if (schur_.group >= 0) return true;
  if (derivative_count() > 0 || span_.uniform_group() >= 0 || evaluations_ <= kEvaluationsBeforeVectors) return false;
  if (span_.size() > kLargestInverse) return false;  // its parts need several times the memory (plan.cpp)
  const Majority majority = majority_group(span_);
  if (majority.group < 0 || 3 * majority.rest.numel() > span_.size()) return false;
  const at::Tensor matrix = factor_.matrix({});
  const at::Tensor columns = matrix.index_select(1, majority.main);
  SymmetricEigen eigen = symmetric_eigen({columns.index_select(0, majority.main)}, true)[0];
  store_.count_clipped(clip_negative(eigen.values));
  schur_.values = eigen.values;
  schur_.eliminated = ResolventGram(eigen.values, eigen.vectors.t().mm(columns.index_select(0, majority.rest).t()));
  schur_.corner = matrix.index_select(0, majority.rest).index_select(1, majority.rest);
  schur_.main = majority.main;
  schur_.rest = majority.rest;
  schur_.group = majority.group;
  return true;
}

void DecomposedMatrix::add_log_determinant(const PrecisionPoint& point, LogDeterminant& total) {
  ++evaluations_;
  if (point.root_shift.defined()) return add_by_cholesky(point, total);
  if (choose_eigenvalues()) return add_by_eigenvalues(point, total);
  if (choose_schur()) return add_by_schur(point, total);
  try {
    add_by_cholesky(point, total);
  } catch (const Error&) {
    // Eigenvalues can be clipped at zero, so they survive a δ below the round-off of s·B.
    if (span_.uniform_group() < 0) throw;
    add_by_eigenvalues(point, total);
  }
}

void DecomposedMatrix::add_by_eigenvalues(const PrecisionPoint& point, LogDeterminant& total) {
  const double scale = point.scale * multiplier_;
  const int64_t group = span_.uniform_group();
  const double precision = std::exp(point.log_prior_precision.data_ptr<double>()[group]);
  const at::Tensor values = factor_.values({});
  const LogSum sums = log_sum(values, scale, precision);
  total.value += sums.log;
  total.gradient_log_prior_precision.data_ptr<double>()[group] += precision * sums.reciprocal;
  const double* value = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    total.gradient_log_scale += scale * value[i] / (scale * value[i] + precision);
  }
  if (derivative_count() > 0) {
    total.gradient_root.add_(factor_.value_derivatives({}).mv(scale / (scale * values + precision)));
  }
}

void DecomposedMatrix::add_by_schur(const PrecisionPoint& point, LogDeterminant& total) {
  const double scale = point.scale * multiplier_;
  const double precision = std::exp(point.log_prior_precision.data_ptr<double>()[schur_.group]);
  const at::Tensor rest_precision = span_.log_precision(point.log_prior_precision).index_select(0, schur_.rest).exp();
  const ResolventGram::Value eliminated = schur_.eliminated.at(std::log(precision / scale));
  at::Tensor complement = scale * (schur_.corner - eliminated.gram);
  complement.diagonal().add_(rest_precision);
  const at::Tensor factor = cholesky(complement, "Schur complement of the posterior precision");
  const at::Tensor inverse = inverse_from_factor(factor);
  const LogSum sums = log_sum(schur_.values, scale, precision);
  total.value += sums.log + log_determinant_of_factor(factor);

  const double main_trace = precision * sums.reciprocal + scale * (inverse * eliminated.slope).sum().item<double>();
  total.gradient_log_prior_precision.data_ptr<double>()[schur_.group] += main_trace;
  const at::Tensor rest_trace = rest_precision * inverse.diagonal();
  at::Tensor by_weight = at::zeros({span_.size()}, at::kDouble);
  by_weight.index_copy_(0, schur_.rest, rest_trace);
  span_.accumulate(by_weight, total.gradient_log_prior_precision);
  total.gradient_log_scale += static_cast<double>(span_.size()) - main_trace - rest_trace.sum().item<double>();
}

bool DecomposedMatrix::clip_round_off(const PrecisionPoint& point) {
  if (clipped_.defined() || point.root_shift.defined() || span_.size() > kLargestInverse) return false;
  const at::Tensor matrix = factor_.matrix({});
  if (!at::isfinite(matrix).all().item<bool>()) return false;
  const at::Tensor vectors = factor_.vectors(), values = factor_.values({});  // without the negative ones
  const at::Tensor clipped = recompose(vectors, values);
  if ((clipped - matrix).abs().max().item<double>() > kRoundOff * values.max().item<double>()) return false;
  clipped_ = clipped;
  return true;
}

template <class Factorise>
auto DecomposedMatrix::factorised(const PrecisionPoint& point, Factorise factorise) {
  const std::string name = description(point);
  try {
    return factorise(precision_at(point), name.c_str());
  } catch (const Error&) {
    if (!clip_round_off(point)) throw;
  }
  return factorise(precision_at(point), name.c_str());
}

void DecomposedMatrix::add_by_cholesky(const PrecisionPoint& point, LogDeterminant& total) {
  const at::Tensor precision = span_.log_precision(point.log_prior_precision).exp();
  at::Tensor diagonal;  // of H⁻¹
  if (derivative_count() == 0) {
    FactorAndDiagonal both = factorised(point, cholesky_and_inverse_diagonal);
    total.value += log_determinant_of_factor(both.factor);
    diagonal = both.inverse_diagonal;
    cholesky_ = std::move(both.factor);
    remembered_.same(point);
  } else {
    const at::Tensor& factor = factor_at(point);
    total.value += log_determinant_of_factor(factor);
    const double scale = point.scale * multiplier_;
    const at::Tensor inverse = inverse_from_factor(factor), flat = inverse.reshape(-1);
    diagonal = inverse.diagonal();
    for (int64_t m = 0; m < derivative_count(); ++m) {
      const at::Tensor derivative = factor_.matrix_derivative(m, point.root_shift).reshape(-1);
      total.gradient_root[m] += scale * at::dot(flat, derivative).item<double>();
    }
  }
  const at::Tensor unexplained = precision * diagonal;
  span_.accumulate(unexplained, total.gradient_log_prior_precision);
  // tr(H⁻¹ s B) = tr(H⁻¹ (H - D))
  total.gradient_log_scale += static_cast<double>(span_.size()) - unexplained.sum().item<double>();
}

at::Tensor DecomposedMatrix::precision_at(const PrecisionPoint& point) {
  const bool clipped = clipped_.defined() && !point.root_shift.defined();
  at::Tensor matrix = scaled_copy(clipped ? clipped_ : factor_.matrix(point.root_shift), point.scale * multiplier_);
  matrix.diagonal().add_(span_.log_precision(point.log_prior_precision).exp());
  return matrix;
}

std::string DecomposedMatrix::description(const PrecisionPoint& point) const {
  return "posterior precision of " + span_.name() +
         (point.root_shift.defined() ? " away from the pass (fit again at these hyperparameters)" : "");
}

const at::Tensor& DecomposedMatrix::factor_at(const PrecisionPoint& point) {
  if (remembered_.same(point)) return cholesky_;
  try {
    cholesky_ = factorised(point, cholesky_in_place);
  } catch (...) {
    remembered_.forget();
    throw;
  }
  return cholesky_;
}

at::Tensor DecomposedMatrix::solve(const PrecisionPoint& point, const at::Tensor& rows) {
  const at::Tensor& factor = factor_at(point);
  return solve_lower_transposed(factor, solve_lower(factor, rows));
}

double DecomposedMatrix::curvature_form(const PrecisionPoint& point, const at::Tensor& vector) {
  const at::Tensor matrix = factor_.matrix(point.root_shift);
  return point.scale * multiplier_ * at::dot(vector, matrix.mv(vector)).item<double>();
}

void DecomposedMatrix::add_prior_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_group) {
  span_.accumulate(span_.log_precision(point.log_prior_precision).exp() * vector * vector, by_group);
}

void DecomposedMatrix::add_root_form(const PrecisionPoint& point, const at::Tensor& vector, at::Tensor& by_root) {
  for (int64_t m = 0; m < derivative_count(); ++m) {
    const at::Tensor derivative = factor_.matrix_derivative(m, point.root_shift);
    by_root[m] += point.scale * multiplier_ * at::dot(vector, derivative.mv(vector)).item<double>();
  }
}

at::Tensor DecomposedMatrix::covariance(const PrecisionPoint& point, const at::Tensor& jacobian) {
  return covariance(factor_at(point), jacobian);
}

at::Tensor DecomposedMatrix::covariance(const at::Tensor& factor, const at::Tensor& jacobian) {
  const at::Tensor whitened = solve_lower(factor, jacobian.flatten(0, 1)).view(jacobian.sizes());
  return at::bmm(whitened, whitened.transpose(1, 2));
}

at::Tensor DecomposedMatrix::apply_root(const PrecisionPoint& point, const at::Tensor& rows, bool transposed) {
  const at::Tensor& factor = factor_at(point);
  return transposed ? solve_lower(factor, rows) : solve_lower_transposed(factor, rows);
}

at::Tensor DecomposedMatrix::sample(const PrecisionPoint& point, int64_t samples, at::Generator generator) {
  const at::Tensor noise = at::randn({span_.size(), samples}, generator, at::kDouble);
  return solve_lower_transposed(factor_at(point), noise.t());
}

}  // namespace ockham
