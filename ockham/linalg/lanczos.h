// Lanczos tridiagonalisation of a symmetric matrix A [n, n] that is known by its products only, for several starting
// vectors at once: V A Vᵀ = T with orthonormal rows V [m, n], the first of them along the start.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ockham {

/// A x for every row x of [S, n] float64.
using SymmetricProducts = std::function<at::Tensor(const at::Tensor& rows)>;

struct LanczosOptions {
  int64_t steps = 30;                       // m, no more than n
  at::ScalarType basis_type = at::kDouble;  // in which V is kept; float32 halves the memory and is orthogonal to 1e-6
};

struct Lanczos {
  at::Tensor tridiagonal;        // T [S, m, m] float64
  at::Tensor basis;              // V [S, m, n]
  at::Tensor squared_norm;       // of the starts [S] float64
  std::vector<int64_t> lengths;  // rows of T and V that count; fewer than m where A has an invariant subspace
};

/// Every new vector is made orthogonal to all before it, twice. One call of `products` a step. `start` [S, n] float64,
/// no row zero.
Lanczos run_lanczos(const SymmetricProducts& products, const at::Tensor& start, const LanczosOptions& options);

}  // namespace ockham
