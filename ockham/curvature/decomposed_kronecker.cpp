#include "ockham/curvature/decomposed_kronecker.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/curvature/decomposed_whitening.h"
#include "ockham/linalg/log_sum.h"
#include "ockham/linalg/symmetric_eigen.h"

namespace ockham {
namespace {

/// Σ_j s w_j / (s x_i w_j + shift) [d]: the derivative of Σ_ij log(s x_i w_j + shift) with respect to x_i.
at::Tensor row_slopes(const at::Tensor& x, const at::Tensor& w, double scale, double shift) {
  at::Tensor result = at::empty_like(x);
  const at::Tensor other = w.contiguous();
  const double* rows = x.data_ptr<double>();
  const double* columns = other.data_ptr<double>();
  double* out = result.data_ptr<double>();
  const int64_t count = other.numel();
  at::parallel_for(0, x.numel(), std::max<int64_t>(1, 16384 / std::max<int64_t>(1, count)),
                   [&](int64_t i, int64_t end) {
                     for (; i < end; ++i) {
                       double sum = 0;
                       for (int64_t j = 0; j < count; ++j)
                         sum += scale * columns[j] / (scale * rows[i] * columns[j] + shift);
                       out[i] = sum;
                     }
                   });
  return result;
}

/// x·vectors and vectorsᵀ·x: vectors undefined are the identity, [d] a diagonal matrix.
at::Tensor times_right(const at::Tensor& x, const at::Tensor& vectors, bool transposed) {
  if (!vectors.defined()) return x;
  if (vectors.dim() == 1) return x * vectors;
  return at::matmul(x, transposed ? vectors.t() : vectors);
}
at::Tensor times_left(const at::Tensor& vectors, const at::Tensor& x, bool transposed) {
  if (!vectors.defined()) return x;
  if (vectors.dim() == 1) return vectors.unsqueeze(1) * x;
  return at::matmul(transposed ? vectors.t() : vectors, x);
}
at::Tensor into_basis(const at::Tensor& x, const at::Tensor& left, const at::Tensor& right) {
  return times_left(left, times_right(x, right, false), true);
}
at::Tensor out_of_basis(const at::Tensor& x, const at::Tensor& left, const at::Tensor& right) {
  return times_left(left, times_right(x, right, true), false);
}

}  // namespace

DecomposedKronecker::DecomposedKronecker(const KroneckerBlock& block, BlockSpan span, EigenStore& store, bool damping)
    : span_(std::move(span)), damping_(damping) {
  if (damping && !uniform()) {
    throw Error(ErrorKind::usage, "Damping needs one prior precision for " + span_.name() +
                                      "; use a scalar or layerwise prior, or no damping.");
  }
  for (int64_t g = 0; g < block.left.size(0); ++g) {
    std::vector<at::Tensor> derivatives;
    for (const at::Tensor& derivative : block.derivatives) derivatives.push_back(derivative[g]);
    const std::vector<at::Tensor> none;
    groups_.push_back({MovingFactor(block.left[g], block.gradient_left ? derivatives : none, store),
                       MovingFactor(block.right[g], block.gradient_left ? none : derivatives, store),
                       block.gradient_left});
  }
  if (static_cast<int64_t>(groups_.size()) * groups_[0].left.size() * groups_[0].right.size() != span_.size()) {
    throw Error(ErrorKind::failure, "The Kronecker factors of " + span_.name() + " do not have its size.");
  }
}

bool DecomposedKronecker::is_zero() const {
  for (const Group& group : groups_) {
    if (!group.left.is_zero() && !group.right.is_zero()) return false;
  }
  return true;
}

void DecomposedKronecker::list_decompositions(std::vector<size_t>& with_vectors,
                                              std::vector<size_t>& values_only) const {
  if (!uniform()) return;
  for (const Group& group : groups_) {
    for (const MovingFactor* factor : {&group.left, &group.right}) {
      if (!factor->diagonal()) (factor->derivative_count() > 0 ? with_vectors : values_only).push_back(factor->index());
    }
  }
}

double DecomposedKronecker::uniform_precision(const PrecisionPoint& point) const {
  return std::exp(point.log_prior_precision.data_ptr<double>()[span_.uniform_group()]);
}

DecomposedKronecker::Basis DecomposedKronecker::uniform_basis(size_t g, const PrecisionPoint& point, bool vectors) {
  Group& group = groups_[g];
  Basis basis;
  basis.q = group.left.values(group.gradient_left ? point.root_shift : at::Tensor());
  basis.w = group.right.values(group.gradient_left ? at::Tensor() : point.root_shift);
  basis.shift = uniform_precision(point);
  if (vectors) {
    basis.left = group.left.vectors();
    basis.right = group.right.vectors();
  }
  return basis;
}

const std::vector<DecomposedKronecker::Basis>& DecomposedKronecker::whitened_bases(const PrecisionPoint& point) {
  PrecisionPoint without_scale = point;
  without_scale.scale = 0;  // the whitened factors do not depend on it
  if (remembered_.same(without_scale)) return whitened_;
  try {
    const at::Tensor log_precision = split(span_.log_precision(point.log_prior_precision).unsqueeze(0))[0];
    whitened_.assign(groups_.size(), Basis());
    std::vector<at::Tensor> matrices;
    std::vector<std::pair<at::Tensor*, at::Tensor*>> places;  // of the values and vectors of each matrix
    std::vector<at::Tensor> precisions;
    for (size_t g = 0; g < groups_.size(); ++g) {
      Basis& basis = whitened_[g];
      basis.log_precision = log_precision[static_cast<int64_t>(g)];
      const SeparablePrecision separable = split_separable(basis.log_precision, span_.name());
      const auto decompose = [&](MovingFactor& factor, const at::Tensor& precision, const at::Tensor& shift,
                                 at::Tensor& values, at::Tensor& vectors) {
        if (factor.diagonal()) {
          values = whiten_factor(factor.matrix(shift), precision);
          vectors = (-0.5 * precision).exp();
        } else if (!shift.defined() && precision.count_nonzero().item<int64_t>() == 0) {
          values = factor.values({});
          vectors = factor.vectors();
        } else {
          matrices.push_back(whiten_factor(factor.matrix(shift), precision));
          precisions.push_back(precision);
          places.push_back({&values, &vectors});
        }
      };
      Group& group = groups_[g];
      decompose(group.left, separable.left, group.gradient_left ? point.root_shift : at::Tensor(), basis.q, basis.left);
      decompose(group.right, separable.right, group.gradient_left ? at::Tensor() : point.root_shift, basis.w,
                basis.right);
    }
    std::vector<SymmetricEigen> eigen = symmetric_eigen(matrices, true);
    for (size_t i = 0; i < eigen.size(); ++i) {
      clip_negative(eigen[i].values);
      *places[i].first = eigen[i].values;
      *places[i].second = eigen[i].vectors * (-0.5 * precisions[i]).exp().unsqueeze(1);
    }
  } catch (...) {
    remembered_.forget();
    throw;
  }
  return whitened_;
}

DecomposedKronecker::Basis DecomposedKronecker::basis(size_t group, const PrecisionPoint& point) {
  return uniform() ? uniform_basis(group, point, true) : whitened_bases(point)[group];
}

at::Tensor DecomposedKronecker::denominators(const Basis& basis, double scale) const {
  if (!damping_) return scale * at::outer(basis.q, basis.w) + basis.shift;
  const double root_scale = std::sqrt(scale), root_precision = std::sqrt(basis.shift);
  return at::outer(root_scale * basis.q + root_precision, root_scale * basis.w + root_precision);
}

at::Tensor DecomposedKronecker::split(const at::Tensor& rows) const {
  return rows.reshape(
      {rows.size(0), static_cast<int64_t>(groups_.size()), groups_[0].left.size(), groups_[0].right.size()});
}

void DecomposedKronecker::add_log_determinant(const PrecisionPoint& point, LogDeterminant& total) {
  ++evaluations_;
  if (uniform()) {
    for (size_t g = 0; g < groups_.size(); ++g) {
      damping_ ? add_damped(g, point, total) : add_uniform(g, point, total);
    }
    return;
  }
  at::Tensor by_weight = at::empty({span_.size()}, at::kDouble);
  const at::Tensor by_group = split(by_weight.unsqueeze(0))[0];
  for (size_t g = 0; g < groups_.size(); ++g) add_whitened(g, point, by_group[static_cast<int64_t>(g)], total);
  span_.accumulate(by_weight, total.gradient_log_prior_precision);
}

LogSum DecomposedKronecker::sum_over(size_t g, const Basis& basis, const PrecisionPoint& point) {
  const bool often = !point.root_shift.defined() && evaluations_ > kEvaluationsForBins &&
                     basis.q.numel() * basis.w.numel() >= kValuesForBins;
  if (!often) return log_sum_outer(basis.q, basis.w, point.scale, basis.shift);
  std::optional<BinnedSpectrum>& bins = groups_[g].bins;
  if (!bins) bins.emplace(basis.q, basis.w);
  return bins->usable() ? bins->log_sum(point.scale, basis.shift)
                        : log_sum_outer(basis.q, basis.w, point.scale, basis.shift);
}

void DecomposedKronecker::add_uniform(size_t g, const PrecisionPoint& point, LogDeterminant& total) {
  const Basis basis = uniform_basis(g, point, false);
  const LogSum sums = sum_over(g, basis, point);
  const double trace = basis.shift * sums.reciprocal;
  total.value += sums.log;
  total.gradient_log_prior_precision.data_ptr<double>()[span_.uniform_group()] += trace;
  total.gradient_log_scale += static_cast<double>(basis.q.numel() * basis.w.numel()) - trace;
  if (derivative_count() == 0) return;
  Group& group = groups_[g];
  const at::Tensor slopes = group.gradient_left ? row_slopes(basis.q, basis.w, point.scale, basis.shift)
                                                : row_slopes(basis.w, basis.q, point.scale, basis.shift);
  total.gradient_root.add_(group.gradient().value_derivatives(point.root_shift).mv(slopes));
}

void DecomposedKronecker::add_damped(size_t g, const PrecisionPoint& point, LogDeterminant& total) {
  const Basis basis = uniform_basis(g, point, false);
  const double root_scale = std::sqrt(point.scale), root_precision = std::sqrt(basis.shift);
  double& prior_gradient = total.gradient_log_prior_precision.data_ptr<double>()[span_.uniform_group()];
  // The double product falls apart into one sum per factor, each as often as the other has eigenvalues.
  for (const auto& [values, times] : {std::pair<at::Tensor, int64_t>{basis.q, basis.w.numel()},
                                      std::pair<at::Tensor, int64_t>{basis.w, basis.q.numel()}}) {
    const LogSum sums = log_sum(values, root_scale, root_precision);
    const double count = static_cast<double>(times);
    const double trace = root_precision * sums.reciprocal;
    total.value += count * sums.log;
    prior_gradient += 0.5 * count * trace;
    total.gradient_log_scale += 0.5 * count * (static_cast<double>(values.numel()) - trace);
  }
  if (derivative_count() == 0) return;
  Group& group = groups_[g];
  const at::Tensor& values = group.gradient_left ? basis.q : basis.w;
  const double times = static_cast<double>((group.gradient_left ? basis.w : basis.q).numel());
  const at::Tensor slopes = times * root_scale / (root_scale * values + root_precision);
  total.gradient_root.add_(group.gradient().value_derivatives(point.root_shift).mv(slopes));
}

void DecomposedKronecker::add_whitened(size_t g, const PrecisionPoint& point, at::Tensor by_weight,
                                       LogDeterminant& total) {
  const Basis& basis = whitened_bases(point)[g];
  const LogSum sums = log_sum_outer(basis.q, basis.w, point.scale, 1);
  total.value += basis.log_precision.sum().item<double>() + sums.log;
  total.gradient_log_scale += static_cast<double>(basis.q.numel() * basis.w.numel()) - sums.reciprocal;
  const at::Tensor variance =
      out_of_basis(denominators(basis, point.scale).reciprocal(), basis.left.square(), basis.right.square());
  by_weight.copy_(basis.log_precision.exp() * variance);
  Group& group = groups_[g];
  const at::Tensor slopes =
      group.gradient_left ? row_slopes(basis.q, basis.w, point.scale, 1) : row_slopes(basis.w, basis.q, point.scale, 1);
  for (int64_t m = 0; m < derivative_count(); ++m) {
    const at::Tensor derivative = group.gradient().matrix_derivative(m, point.root_shift);
    const at::Tensor rotated = rotated_diagonal(group.gradient_left ? basis.left : basis.right, derivative);
    total.gradient_root[m] += at::dot(rotated, slopes).item<double>();
  }
}

at::Tensor DecomposedKronecker::solve(const PrecisionPoint& point, const at::Tensor& rows) {
  const at::Tensor input = split(rows);
  at::Tensor output = at::empty(input.sizes(), input.options());
  for (size_t g = 0; g < groups_.size(); ++g) {
    const int64_t k = static_cast<int64_t>(g);
    const Basis at_point = basis(g, point);
    const at::Tensor rotated = into_basis(input.select(1, k), at_point.left, at_point.right);
    output.select(1, k).copy_(
        out_of_basis(rotated / denominators(at_point, point.scale), at_point.left, at_point.right));
  }
  return output.reshape(rows.sizes());
}

at::Tensor DecomposedKronecker::covariance(const PrecisionPoint& point, const at::Tensor& jacobian) {
  return covariance(inverse_at(point), jacobian);
}

std::vector<DecomposedKronecker::Inverse> DecomposedKronecker::inverse_at(const PrecisionPoint& point) {
  std::vector<Inverse> inverse;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const Basis at_point = basis(g, point);
    inverse.push_back({at_point.left, at_point.right, denominators(at_point, point.scale).reciprocal()});
  }
  return inverse;
}

at::Tensor DecomposedKronecker::covariance(const std::vector<Inverse>& groups, const at::Tensor& jacobian) {
  const int64_t examples = jacobian.size(0), outputs = jacobian.size(1), count = static_cast<int64_t>(groups.size());
  const at::Tensor& shape = groups[0].variance;
  const at::Tensor input = jacobian.reshape({examples * outputs, count, shape.size(0), shape.size(1)});
  at::Tensor total = at::zeros({examples, outputs, outputs}, at::kDouble);
  for (int64_t g = 0; g < count; ++g) {
    const Inverse& group = groups[static_cast<size_t>(g)];
    const at::Tensor rotated = into_basis(input.select(1, g), group.left, group.right);
    const at::Tensor whitened = (rotated * group.variance.sqrt()).reshape({examples, outputs, -1});
    total.baddbmm_(whitened, whitened.transpose(1, 2));
  }
  return total;
}

at::Tensor DecomposedKronecker::apply_root(const PrecisionPoint& point, const at::Tensor& rows, bool transposed) {
  const at::Tensor input = split(rows);
  at::Tensor output = at::empty(input.sizes(), input.options());
  for (size_t g = 0; g < groups_.size(); ++g) {
    const int64_t k = static_cast<int64_t>(g);
    const Basis at_point = basis(g, point);
    const at::Tensor root = denominators(at_point, point.scale).sqrt(), part = input.select(1, k);
    output.select(1, k).copy_(transposed ? into_basis(part, at_point.left, at_point.right) / root
                                         : out_of_basis(part / root, at_point.left, at_point.right));
  }
  return output.reshape(rows.sizes());
}

at::Tensor DecomposedKronecker::sample(const PrecisionPoint& point, int64_t samples, at::Generator generator) {
  return apply_root(point, at::randn({samples, span_.size()}, generator, at::kDouble), false);
}

}  // namespace ockham
