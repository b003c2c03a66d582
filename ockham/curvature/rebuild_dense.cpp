#include "ockham/curvature/rebuild_dense.h"

#include <ATen/ATen.h>

#include "ockham/base/random.h"

namespace ockham {
namespace {

/// [N, C, K] and J [N·C, p] to [N·K, p].
at::Tensor root_rows(const at::Tensor& root, const at::Tensor& jacobian) {
  const at::Tensor by_example = jacobian.view({root.size(0), root.size(1), -1});
  return at::bmm(root.transpose(1, 2), by_example).reshape({-1, jacobian.size(1)});
}

DenseBlock rebuild(const DenseBlock& block, const OutputRoot& root) {
  DenseBlock result;
  result.parameters = block.parameters;
  result.factor = block.factor;
  result.jacobian = block.jacobian;
  const at::Tensor jacobian = block.jacobian.to(at::kDouble);
  const at::Tensor rows = root_rows(root.root, jacobian);
  if (!block.rows.defined()) result.matrix = rows.t().mm(rows);
  for (const at::Tensor& derivative : root.derivatives) {
    const at::Tensor row_derivative = root_rows(derivative, jacobian);
    if (block.rows.defined()) {
      result.row_derivatives.push_back(row_derivative);
    } else {
      const at::Tensor half = rows.t().mm(row_derivative);
      result.matrix_derivatives.push_back(half + half.t());
    }
  }
  if (block.rows.defined()) result.rows = rows;
  return result;
}

}  // namespace

bool can_rebuild(const Curvature& curvature, CurvatureKind kind) {
  if (kind == CurvatureKind::mc_fisher) return false;
  for (const CurvatureBlock& block : curvature.blocks) {
    const DenseBlock* dense = std::get_if<DenseBlock>(&block);
    if (dense == nullptr || !dense->jacobian.defined()) return false;
  }
  return true;
}

Curvature rebuild_dense(const Curvature& curvature, const DataFit& data_fit, const Hyperparameters& hyperparameters,
                        const RebuildOptions& options) {
  RootOptions root_options;
  root_options.kind = options.kind;
  root_options.derivatives = options.derivatives;
  const OutputRoot root = output_root(options.likelihood, data_fit.kept_outputs(), data_fit.kept_targets(),
                                      hyperparameters, root_options, random_stream({0}));
  Curvature result;
  for (const CurvatureBlock& block : curvature.blocks)
    result.blocks.push_back(rebuild(std::get<DenseBlock>(block), root));
  return result;
}

at::Tensor back_through_jacobians(const Curvature& curvature, const ParameterLayout& layout, const at::Tensor& column) {
  at::Tensor result = at::zeros({layout.total()}, at::kDouble);
  for (const CurvatureBlock& block : curvature.blocks) {
    const DenseBlock& dense = std::get<DenseBlock>(block);
    const at::Tensor product = dense.jacobian.to(at::kDouble).t().mv(column.reshape(-1));
    int64_t first = 0;
    for (size_t parameter : dense.parameters) {
      const ParameterSlot& slot = layout[parameter];
      result.narrow(0, slot.offset, slot.size).add_(product.narrow(0, first, slot.size));
      first += slot.size;
    }
  }
  return result;
}

}  // namespace ockham
