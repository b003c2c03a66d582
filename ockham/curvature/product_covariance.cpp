#include "ockham/curvature/product_covariance.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ockham {
namespace {

/// x U for x [..., d].
at::Tensor rotate_last(const at::Tensor& x, const at::Tensor& basis) {
  if (!basis.defined()) return x;
  return basis.dim() == 1 ? x * basis : at::matmul(x, basis);
}

/// Uᵀ x for x [n, d, m].
at::Tensor rotate_rows(const at::Tensor& basis, const at::Tensor& x) {
  if (!basis.defined()) return x;
  if (basis.dim() == 1) return basis.unsqueeze(1) * x;
  return at::bmm(basis.t().unsqueeze(0).expand({x.size(0), -1, -1}), x);
}

at::Tensor one_position(const at::Tensor& gradients, const at::Tensor& inputs, const ProductPosterior& posterior) {
  const at::Tensor rotated = rotate_last(gradients.squeeze(3), posterior.gradient_basis);  // [n, C, dg]
  const at::Tensor squares = rotate_last(inputs.squeeze(1), posterior.input_basis).square();
  const at::Tensor spread = at::matmul(squares, posterior.variance.t());  // [n, dg]
  return at::bmm(rotated * spread.unsqueeze(1), rotated.transpose(1, 2));
}

}  // namespace

at::Tensor product_covariance(const at::Tensor& gradients, const at::Tensor& inputs,
                              const ProductPosterior& posterior) {
  const int64_t examples = gradients.size(0), outputs = gradients.size(1), rows = gradients.size(2),
                positions = gradients.size(3), columns = inputs.size(2);
  if (positions == 1) return one_position(gradients, inputs, posterior).to(at::kDouble);
  const bool inputs_first = positions < outputs * rows, gradients_first = positions < columns;
  at::Tensor left = gradients.reshape({examples * outputs, rows, positions});
  if (gradients_first) left = rotate_rows(posterior.gradient_basis, left);
  const at::Tensor right = inputs_first ? rotate_last(inputs, posterior.input_basis) : inputs;
  at::Tensor sum = at::bmm(left.reshape({examples, outputs * rows, positions}), right);  // M, [n, C·dg, di]
  if (!inputs_first) sum = rotate_last(sum, posterior.input_basis);
  if (!gradients_first) sum = rotate_rows(posterior.gradient_basis, sum.reshape({examples * outputs, rows, columns}));
  sum = sum.reshape({examples, outputs, rows, columns}).mul_(posterior.variance.sqrt());
  const at::Tensor whitened = sum.reshape({examples, outputs, rows * columns});
  return at::bmm(whitened, whitened.transpose(1, 2)).to(at::kDouble);
}

int64_t product_chunk(const at::Tensor& gradients, const at::Tensor& inputs) {
  constexpr int64_t elements = int64_t{1} << 22;
  const int64_t made = inputs.size(1) == 1 ? 0 : gradients.size(1) * gradients.size(2) * inputs.size(2);
  return std::max<int64_t>(1, elements / (gradients.numel() + inputs.numel() + made));
}

}  // namespace ockham
