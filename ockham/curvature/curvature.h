// The curvature of the likelihood as a value: a list of blocks that tile θ. Blocks of different batches (or machines)
// add up.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace ockham {

enum class Structure { full, block, kronecker, diagonal };

/// Every block keeps derivatives with respect to the M root hyperparameters (temperature, or σ per output) when asked
/// for. All tensors are float64, and at unit noise.

/// Rows of one parameter that are products, Φ_{nk,(i,j)} = left_{nk,i} right_{nk,j}: a linear layer used once on one
/// position. The Gram matrix ΦΦᵀ is then the elementwise product of two small ones.
struct RowFactors {
  size_t parameter = 0;
  at::Tensor left, right;  // [N·K, d0], [N·K, d1]; either may be [N, d], to be repeated for the K columns of an example
};

/// Exact curvature of some parameters together: as a matrix, or, when there are fewer rows than weights, by rows Φ = Rᵀ
/// J.
struct DenseBlock {
  std::vector<size_t> parameters;              // indices in the layout, in order
  at::Tensor matrix;                           // [p, p]; undefined in row form
  at::Tensor rows;                             // Φ [N·K, p], matrix = Φᵀ Φ; undefined in matrix form
  std::vector<RowFactors> row_factors;         // for the parameters that have them, in row form only
  double factor = 1;                           // multiplies the matrix; lets a bias share its layer's output factor
  std::vector<at::Tensor> matrix_derivatives;  // M of [p, p]
  std::vector<at::Tensor> row_derivatives;     // M of [N·K, p]; the matrix's is ΦᵀΦ̇ + Φ̇ᵀΦ
  /// The network's Jacobian J [N·C, p], kept when the budget allows and a root hyperparameter may move: the block can
  /// then be computed again exactly at other values.
  at::Tensor jacobian;
};

/// left ⊗ right for a parameter flattened [d0][d1], one pair per group; a factor [G, d] of rank 2 is diagonal.
struct KroneckerBlock {
  size_t parameter = 0;
  at::Tensor left;                      // [G, d0, d0] or [G, d0]
  at::Tensor right;                     // [G, d1, d1] or [G, d1]
  bool gradient_left = true;            // which factor came from gradients
  std::vector<at::Tensor> derivatives;  // M, of the gradient factor
};

struct DiagonalBlock {
  std::vector<size_t> parameters;
  at::Tensor diagonal;                  // [p]
  std::vector<at::Tensor> derivatives;  // M of [p]
};

using CurvatureBlock = std::variant<DenseBlock, KroneckerBlock, DiagonalBlock>;

struct Curvature {
  std::vector<CurvatureBlock> blocks;
};

/// The same as one matrix [P, P], for tests and small networks; `layout_sizes` are the weights per parameter.
at::Tensor dense(const Curvature& curvature, const std::vector<int64_t>& layout_sizes);

}  // namespace ockham
