#include "ockham/curvature/restrict_curvature.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ockham {
namespace {

struct Restrict {
  const ParameterLayout& layout;
  const std::vector<size_t>& wanted;
  std::vector<CurvatureBlock>& blocks;

  bool keeps(size_t parameter) const { return std::find(wanted.begin(), wanted.end(), parameter) != wanted.end(); }

  /// The parameters of a block that stay, and the places of their weights within it.
  at::Tensor places(std::vector<size_t>& parameters) const {
    std::vector<size_t> kept;
    std::vector<at::Tensor> indices;
    int64_t first = 0;
    for (size_t parameter : parameters) {
      const int64_t size = layout[parameter].size;
      if (keeps(parameter)) {
        kept.push_back(parameter);
        indices.push_back(at::arange(first, first + size, at::kLong));
      }
      first += size;
    }
    parameters = kept;
    return indices.empty() ? at::Tensor() : at::cat(indices);
  }

  void operator()(const KroneckerBlock& block) const {
    if (keeps(block.parameter)) blocks.push_back(block);
  }

  void operator()(DiagonalBlock block) const {
    const at::Tensor kept = places(block.parameters);
    if (!kept.defined()) return;
    block.diagonal = block.diagonal.index_select(0, kept);
    for (at::Tensor& derivative : block.derivatives) derivative = derivative.index_select(0, kept);
    blocks.push_back(block);
  }

  void operator()(DenseBlock block) const {
    const size_t before = block.parameters.size();
    const at::Tensor kept = places(block.parameters);
    if (!kept.defined()) return;
    if (block.parameters.size() < before) {
      const auto cut_square = [&](at::Tensor& t) { t = t.index_select(0, kept).index_select(1, kept); };
      const auto cut_columns = [&](at::Tensor& t) { t = t.index_select(1, kept); };
      if (block.matrix.defined()) cut_square(block.matrix);
      if (block.rows.defined()) cut_columns(block.rows);
      if (block.jacobian.defined()) cut_columns(block.jacobian);
      for (at::Tensor& derivative : block.matrix_derivatives) cut_square(derivative);
      for (at::Tensor& derivative : block.row_derivatives) cut_columns(derivative);
      block.row_factors.clear();
    }
    blocks.push_back(block);
  }
};

}  // namespace

Curvature restrict_curvature(const Curvature& curvature, const ParameterLayout& layout,
                             const std::vector<size_t>& parameters) {
  Curvature result;
  for (const CurvatureBlock& block : curvature.blocks) std::visit(Restrict{layout, parameters, result.blocks}, block);
  DiagonalBlock others;
  int64_t weights = 0;
  for (size_t i = 0; i < layout.count(); ++i) {
    if (std::find(parameters.begin(), parameters.end(), i) != parameters.end()) continue;
    others.parameters.push_back(i);
    weights += layout[i].size;
  }
  others.diagonal = at::zeros({weights}, at::kDouble);
  if (weights > 0) result.blocks.push_back(others);
  return result;
}

}  // namespace ockham
