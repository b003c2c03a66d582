// Eigendecompositions of symmetric matrices, many at once.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ockham {

struct SymmetricEigen {
  at::Tensor values;   // ascending, [n]
  at::Tensor vectors;  // columns, [n, n], their signs fixed; undefined when not asked for
};

/// Float64; throws Error(numerical) when an entry is not finite. Matrices are decomposed in parallel, largest first,
/// each with one BLAS thread (faster than threaded BLAS for sizes that networks have); a single large one uses threaded
/// BLAS.
std::vector<SymmetricEigen> symmetric_eigen(const std::vector<at::Tensor>& matrices, bool vectors);

/// Sets negative values (round-off of a positive semi-definite matrix) to zero and says how many there were. Values
/// below -1e-12·max count; smaller ones are zeroed silently.
int64_t clip_negative(at::Tensor& values);

}  // namespace ockham
