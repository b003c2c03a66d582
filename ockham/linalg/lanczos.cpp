#include "ockham/linalg/lanczos.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"

namespace ockham {
namespace {

// Of the largest entry of T: what is left of a vector after its projections is then rounding.
constexpr double kInvariant = 1e-13;

/// Removes from each row of `rows` [S, n] its part within the first `count` vectors of its own basis.
void make_orthogonal(at::Tensor& rows, const at::Tensor& basis, int64_t count) {
  for (int64_t s = 0; s < rows.size(0); ++s) {
    const at::Tensor known = basis[s].narrow(0, 0, count);
    const at::Tensor coefficients = known.mv(rows[s].to(basis.scalar_type()));
    rows[s].sub_(known.t().mv(coefficients));
  }
}

}  // namespace

Lanczos run_lanczos(const SymmetricProducts& products, const at::Tensor& start, const LanczosOptions& options) {
  const int64_t starts = start.size(0), size = start.size(1), steps = std::min(options.steps, size);
  Lanczos result;
  result.tridiagonal = at::zeros({starts, steps, steps}, at::kDouble);
  result.basis = at::zeros({starts, steps, size}, options.basis_type);
  result.squared_norm = start.square().sum(1);
  result.lengths.assign(static_cast<size_t>(starts), steps);
  std::vector<double> largest(static_cast<size_t>(starts), 0);
  auto entries = result.tridiagonal.accessor<double, 3>();

  at::Tensor next = start / result.squared_norm.sqrt().unsqueeze(1);
  for (int64_t j = 0; j < steps; ++j) {
    result.basis.select(1, j).copy_(next);
    const at::Tensor vectors = result.basis.select(1, j).to(at::kDouble);  // as they are kept
    next = products(vectors);
    const at::Tensor diagonal = (next * vectors).sum(1);
    if (!diagonal.isfinite().all().item<bool>()) {
      throw Error(ErrorKind::numerical,
                  "A product with the curvature is not finite; the weights have diverged or the data are out of range: "
                  "use scaled data, or float64.");
    }
    next = next - diagonal.unsqueeze(1) * vectors;
    for (int repetition = 0; repetition < 2; ++repetition) make_orthogonal(next, result.basis, j + 1);
    const at::Tensor length = next.norm(2, {1});
    for (int64_t s = 0; s < starts; ++s) {
      int64_t& known = result.lengths[static_cast<size_t>(s)];
      if (known <= j) continue;  // ended before; its vectors are zero
      double& scale = largest[static_cast<size_t>(s)];
      entries[s][j][j] = diagonal[s].item<double>();
      scale = std::max(scale, std::abs(entries[s][j][j]));
      const double off_diagonal = length[s].item<double>();
      if (j + 1 == steps) continue;
      if (off_diagonal <= kInvariant * scale) {
        known = j + 1;
        next[s].zero_();
        continue;
      }
      entries[s][j][j + 1] = entries[s][j + 1][j] = off_diagonal;
      next[s].div_(off_diagonal);
    }
  }
  return result;
}

}  // namespace ockham
