#include "ockham/curvature/curvature.h"

#include <ATen/ATen.h>

#include "ockham/base/error.h"

namespace ockham {
namespace {

at::Tensor as_matrix(const at::Tensor& factor) { return factor.dim() == 2 ? factor : at::diag(factor); }

at::Tensor block_matrix(const DenseBlock& block) {
  return block.factor * (block.matrix.defined() ? block.matrix : block.rows.t().mm(block.rows));
}

at::Tensor block_matrix(const KroneckerBlock& block) {
  std::vector<at::Tensor> groups;
  for (int64_t g = 0; g < block.left.size(0); ++g) {
    groups.push_back(at::kron(as_matrix(block.left[g]), as_matrix(block.right[g])));
  }
  return at::block_diag(groups);
}

at::Tensor block_matrix(const DiagonalBlock& block) { return at::diag(block.diagonal); }

std::vector<size_t> parameters_of(const KroneckerBlock& block) { return {block.parameter}; }
template <class Block>
std::vector<size_t> parameters_of(const Block& block) {
  return block.parameters;
}

}  // namespace

at::Tensor dense(const Curvature& curvature, const std::vector<int64_t>& layout_sizes) {
  std::vector<int64_t> offsets(layout_sizes.size() + 1, 0);
  for (size_t i = 0; i < layout_sizes.size(); ++i) offsets[i + 1] = offsets[i] + layout_sizes[i];
  at::Tensor total = at::zeros({offsets.back(), offsets.back()}, at::kDouble);
  for (const CurvatureBlock& block : curvature.blocks) {
    const at::Tensor matrix = std::visit([](const auto& kind) { return block_matrix(kind); }, block);
    std::vector<at::Tensor> places;
    for (size_t parameter : std::visit([](const auto& kind) { return parameters_of(kind); }, block)) {
      places.push_back(at::arange(offsets[parameter], offsets[parameter + 1], at::kLong));
    }
    const at::Tensor index = at::cat(places);
    if (index.numel() != matrix.size(0)) {
      throw Error(ErrorKind::failure, "a curvature block of size " + std::to_string(matrix.size(0)) + " covers " +
                                          std::to_string(index.numel()) + " weights of the layout");
    }
    total.index_put_({index.unsqueeze(1), index.unsqueeze(0)}, matrix, /*accumulate=*/true);
  }
  return total;
}

}  // namespace ockham
