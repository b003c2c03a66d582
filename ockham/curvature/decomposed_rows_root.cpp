// A root of the inverse of a block by its rows: with Z = √s Φ D^-½ and Z Zᵀ = U diag(κ) Uᵀ,
// H⁻¹ = W Wᵀ for W = D^-½ (I + ZᵀZ)^-½ = D^-½ (I - Zᵀ U diag((1 - (1 + κ)^-½) / κ) Uᵀ Z).
#include <ATen/ATen.h>

#include "ockham/curvature/decomposed_rows.h"
#include "ockham/linalg/symmetric_eigen.h"

namespace ockham {

at::Tensor DecomposedRows::apply_root(const PrecisionPoint& point, const at::Tensor& rows, bool transposed) {
  const Woodbury& parts = woodbury_at(point);
  const at::Tensor root = parts.precision.sqrt(), weighted = parts.scaled_rows * root;  // D^½, Z
  SymmetricEigen eigen = symmetric_eigen({weighted.mm(weighted.t())}, true)[0];
  clip_negative(eigen.values);
  const at::Tensor larger = (1 + eigen.values).sqrt();
  const at::Tensor weights = 1 / (larger * (1 + larger));  // (1 - 1/√(1 + κ)) / κ without a division by zero
  const at::Tensor input = transposed ? rows / root : rows;
  const at::Tensor outputs = input.mm(weighted.t()).mm(eigen.vectors) * weights;
  const at::Tensor result = input - outputs.mm(eigen.vectors.t()).mm(weighted);
  return transposed ? result : result / root;
}

}  // namespace ockham
