// What each kind of block adds to J H⁻¹ Jᵀ: a function that holds the block's inverse at one point and nothing that
// moves.
#include "ockham/curvature/output_posterior.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/base/error.h"
#include "ockham/curvature/decomposed_diagonal.h"
#include "ockham/curvature/decomposed_kronecker.h"
#include "ockham/curvature/decomposed_matrix.h"
#include "ockham/curvature/decomposed_rows.h"
#include "ockham/curvature/product_covariance.h"

namespace ockham {
namespace {

constexpr int64_t elements_at_once = int64_t{1} << 22;

/// Calls `use(first, count)` for consecutive examples, `chunk` at a time.
template <class Use>
void for_each_chunk(const OutputGradients& gradients, int64_t chunk, Use&& use) {
  for (int64_t first = 0; first < gradients.examples(); first += chunk)
    use(first, std::min(chunk, gradients.examples() - first));
}

/// Adds use(J) with J [n, C, p] float64 the columns of these parameters, for some examples at a time.
template <class Use>
void add_by_columns(const OutputGradients& gradients, const BlockSpan& span, at::Tensor& total, Use&& use) {
  const auto& parameters = span.parameters();
  const auto known = std::count_if(parameters.begin(), parameters.end(), [&](size_t i) { return !gradients.has(i); });
  if (known == static_cast<std::ptrdiff_t>(parameters.size())) return;
  if (known > 0)
    throw Error(ErrorKind::failure, "The block of " + span.name() + " is known in part only; restrict it first.");
  const int64_t chunk = std::max<int64_t>(1, elements_at_once / (gradients.outputs() * span.size()));
  for_each_chunk(gradients, chunk, [&](int64_t first, int64_t count) {
    std::vector<at::Tensor> columns;
    for (size_t index : parameters) columns.push_back(gradients.jacobian(index, first, count).to(at::kDouble));
    total.narrow(0, first, count).add_(use(columns.size() == 1 ? columns[0] : at::cat(columns, 2)));
  });
}

/// Adds what one weight contributes; `posteriors` has one for each group. `one` are its products for one example.
void add_products(const OutputGradients& gradients, size_t parameter, const OutputGradients::Products& one,
                  const std::vector<ProductPosterior>& posteriors, at::Tensor& total) {
  const int64_t chunk = product_chunk(one.gradients[0], one.inputs[0]);
  for_each_chunk(gradients, chunk, [&](int64_t first, int64_t count) {
    const OutputGradients::Products products = gradients.products(parameter, first, count);
    for (size_t g = 0; g < posteriors.size(); ++g) {
      const auto group = static_cast<int64_t>(g);
      total.narrow(0, first, count)
          .add_(product_covariance(products.gradients[group], products.inputs[group], posteriors[g]));
    }
  });
}

void add_diagonal(const OutputGradients& gradients, size_t parameter, const at::Tensor& variance, at::Tensor& total) {
  if (!gradients.has_products(parameter)) {
    const at::Tensor deviation = variance.to(at::kDouble).sqrt();
    const int64_t chunk = std::max<int64_t>(1, elements_at_once / (gradients.outputs() * variance.numel()));
    for_each_chunk(gradients, chunk, [&](int64_t first, int64_t count) {
      const at::Tensor whitened = gradients.jacobian(parameter, first, count).to(at::kDouble) * deviation;
      total.narrow(0, first, count).add_(at::bmm(whitened, whitened.transpose(1, 2)));
    });
    return;
  }
  const OutputGradients::Products one = gradients.products(parameter, 0, 1);
  if (!one.gradients.defined()) return;  // no output depends on it
  const int64_t groups = one.gradients.size(0), rows = one.gradients.size(3), columns = one.inputs.size(3);
  const at::Tensor by_group = one.gradient_left ? variance.reshape({groups, rows, columns})
                                                : variance.reshape({groups, columns, rows}).transpose(1, 2);
  std::vector<ProductPosterior> posteriors;
  for (int64_t g = 0; g < groups; ++g) posteriors.push_back({{}, {}, by_group[g].contiguous()});
  add_products(gradients, parameter, one, posteriors, total);
}

at::Tensor typed(const at::Tensor& tensor, at::ScalarType type) { return tensor.defined() ? tensor.to(type) : tensor; }

}  // namespace

at::Tensor OutputPosterior::covariance(const OutputGradients& gradients) const {
  at::Tensor total = at::zeros({gradients.examples(), gradients.outputs(), gradients.outputs()}, at::kDouble);
  for (const BlockCovariance& block : blocks_) block(gradients, total);
  return total;
}

BlockCovariance DecomposedMatrix::output_covariance(const PrecisionPoint& point, at::ScalarType) {
  return [span = span_, factor = factor_at(point)](const OutputGradients& gradients, at::Tensor& total) {
    add_by_columns(gradients, span, total, [&](const at::Tensor& jacobian) { return covariance(factor, jacobian); });
  };
}

BlockCovariance DecomposedRows::output_covariance(const PrecisionPoint& point, at::ScalarType) {
  return [span = span_, parts = woodbury_at(point)](const OutputGradients& gradients, at::Tensor& total) {
    add_by_columns(gradients, span, total, [&](const at::Tensor& jacobian) { return covariance(parts, jacobian); });
  };
}

BlockCovariance DecomposedKronecker::output_covariance(const PrecisionPoint& point, at::ScalarType type) {
  const std::vector<Inverse> inverse = inverse_at(point);
  std::vector<ProductPosterior> posteriors;
  for (const Inverse& group : inverse) {
    const at::Tensor left = typed(group.left, type), right = typed(group.right, type);
    const at::Tensor variance = group.variance.to(type);
    posteriors.push_back(groups_[0].gradient_left ? ProductPosterior{left, right, variance}
                                                  : ProductPosterior{right, left, variance.t().contiguous()});
  }
  return [span = span_, inverse, posteriors](const OutputGradients& gradients, at::Tensor& total) {
    const size_t parameter = span.parameters()[0];
    if (!gradients.has_products(parameter)) {
      add_by_columns(gradients, span, total, [&](const at::Tensor& jacobian) { return covariance(inverse, jacobian); });
      return;
    }
    const OutputGradients::Products one = gradients.products(parameter, 0, 1);
    if (one.gradients.defined()) add_products(gradients, parameter, one, posteriors, total);
  };
}

BlockCovariance DecomposedDiagonal::output_covariance(const PrecisionPoint& point, at::ScalarType type) {
  return [span = span_, variances = precision_at(point).reciprocal().to(type)](const OutputGradients& gradients,
                                                                               at::Tensor& total) {
    int64_t offset = 0;
    for (size_t parameter : span.parameters()) {
      const int64_t size = span.size_of(parameter);
      if (gradients.has(parameter)) add_diagonal(gradients, parameter, variances.narrow(0, offset, size), total);
      offset += size;
    }
  };
}

}  // namespace ockham
