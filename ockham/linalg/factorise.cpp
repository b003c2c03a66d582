#include "ockham/linalg/factorise.h"

#include <algorithm>
#include <cstdint>

#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"
#include "ockham/linalg/halves.h"

namespace ockham {
namespace {

constexpr int kHalves = 256;         // below this a second thread costs more than it saves ...
constexpr int kThreadedBlas = 1000;  // ... and below this two BLAS threads are slower than one

// A = [A₁₁ ·; A₂₁ A₂₂]: L₁₁, then L₂₁ = A₂₁ L₁₁⁻ᵀ and A₂₂ - L₂₁ L₂₁ᵀ on two threads, then L₂₂.
int factorise_in_halves(double* columns, int n) {
  const double one = 1, minus = -1;
  const int first = (n / 2 + 7) / 8 * 8, second = n - first, top = second / 16 * 8, bottom = second - top;
  double* corner = columns + first;
  double* rest = corner + static_cast<int64_t>(first) * n;
  int minor = 0;
  dpotrf_("L", &first, columns, &n, &minor);
  if (minor != 0) return minor;

  const auto solve = [&](int half) {
    const int rows = half == 0 ? top : bottom;
    dtrsm_("R", "L", "T", "N", &rows, &first, &one, columns, &n, corner + (half == 0 ? 0 : top), &n);
  };
  // Each half has one of the two triangles on the diagonal and half of the square below the first.
  const auto subtract = [&](int half) {
    const int size = half == 0 ? top : bottom, from = half == 0 ? 0 : top;
    dsyrk_("L", "N", &size, &first, &minus, corner + from, &n, &one, rest + static_cast<int64_t>(from) * (n + 1), &n);
    const int rows = half == 0 ? bottom / 2 : bottom - bottom / 2, row = top + (half == 0 ? 0 : bottom / 2);
    dgemm_("N", "T", &rows, &top, &first, &minus, corner + row, &n, corner, &n, &one, rest + row, &n);
  };
  run_in_halves({solve, subtract});

  dpotrf_("L", &second, rest, &n, &minor);
  return minor == 0 ? 0 : first + minor;
}

}  // namespace

int factorise(double* columns, int n) {
  int minor = 0;
  const int leading = std::max(n, 1);
  if (n >= kThreadedBlas) {
    dpotrf_("L", &n, columns, &leading, &minor);
    return minor;
  }
  const SingleBlasThread single;
  if (n >= kHalves && allowed_threads() > 1) return factorise_in_halves(columns, n);
  dpotrf_("L", &n, columns, &leading, &minor);
  return minor;
}

}  // namespace ockham
