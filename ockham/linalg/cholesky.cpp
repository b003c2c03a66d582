#include "ockham/linalg/cholesky.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"
#include "ockham/linalg/factorise.h"
#include "ockham/linalg/factorise_and_invert.h"
#include "ockham/linalg/halves.h"
#include "ockham/linalg/mirror.h"
#include "ockham/linalg/triangular_inverse.h"

namespace ockham {
namespace {

constexpr int64_t kHalves = 256;         // below this a second thread costs more than it saves
constexpr int64_t kThreadedBlas = 1000;  // below this two BLAS threads are slower than one

[[noreturn]] void report_failure(const std::string& what, int64_t n, bool finite, int minor) {
  const std::string name = what + " [" + std::to_string(n) + ", " + std::to_string(n) + "]";
  if (!finite) {
    throw Error(
        ErrorKind::numerical,
        "The " + name + " has entries that are not finite; check the weights and the data for NaN and overflow.");
  }
  throw Error(ErrorKind::numerical, "The " + name + " is not positive definite (leading minor of order " +
                                        std::to_string(minor == 0 ? n : minor) +
                                        "); use larger prior precisions or float64.");
}

/// Zeros above the diagonal of a matrix stored by columns.
void clear_above(double* columns, int64_t n) {
  const auto clear = [=](int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) std::fill_n(columns + j * n, j, 0.0);
  };
  const int64_t middle = static_cast<int64_t>(0.707 * static_cast<double>(n));  // n/√2 columns have half of the entries
  if (n >= kHalves)
    run_in_halves({[&](int half) { clear(half == 0 ? 0 : middle, half == 0 ? middle : n); }});
  else
    clear(0, n);
}

// Rows of m × n in memory are the columns of BLAS's n × m.
at::Tensor solve_triangle(const at::Tensor& factor, const at::Tensor& rows, const char* transposed) {
  const at::Tensor columns = factor.t().contiguous();
  at::Tensor solved = rows.clone(at::MemoryFormat::Contiguous);
  std::optional<SingleBlasThread> single;
  if (factor.size(0) < kThreadedBlas) single.emplace();
  const int n = static_cast<int>(factor.size(0)), m = static_cast<int>(rows.size(0)), leading = std::max(n, 1);
  const double one = 1;
  if (solved.numel() > 0)
    dtrsm_("L", "L", transposed, "N", &n, &m, &one, columns.data_ptr<double>(), &leading, solved.data_ptr<double>(),
           &leading);
  return solved;
}

}  // namespace

at::Tensor solve_lower(const at::Tensor& factor, const at::Tensor& rows) { return solve_triangle(factor, rows, "N"); }

at::Tensor solve_lower_transposed(const at::Tensor& factor, const at::Tensor& rows) {
  return solve_triangle(factor, rows, "T");
}

at::Tensor cholesky(const at::Tensor& matrix, const char* what) {
  return cholesky_in_place(matrix.detach().clone(at::MemoryFormat::Contiguous), what);
}

at::Tensor cholesky_in_place(at::Tensor matrix, const char* what) {
  const int64_t n = matrix.size(0);
  matrix = matrix.contiguous();
  const at::Tensor diagonal = matrix.diagonal().clone();
  // LAPACK counts by columns; for a symmetric matrix that is the same memory, and no transposed copy is needed.
  double* values = matrix.data_ptr<double>();
  const int minor = factorise(values, static_cast<int>(n));
  // A NaN reaches the factor's diagonal, and some BLAS libraries do not report it.
  bool positive = minor == 0;
  for (int64_t j = 0; j < n; ++j) positive = positive && std::isfinite(values[j * (n + 1)]);
  if (!positive) {
    matrix.diagonal().copy_(diagonal);  // the other triangle is as it was
    report_failure(what, n, at::isfinite(matrix.tril()).all().item<bool>(), minor);
  }
  clear_above(values, n);
  return matrix.t();
}

FactorAndDiagonal cholesky_and_inverse_diagonal(at::Tensor matrix, const char* what) {
  const int64_t n = matrix.size(0);
  matrix = matrix.contiguous();
  if (n < kThreadedBlas) {
    const at::Tensor diagonal = matrix.diagonal().clone(), inverse = at::empty({n, n}, at::kDouble);
    const int minor = factorise_and_invert(matrix.data_ptr<double>(), inverse.data_ptr<double>(), static_cast<int>(n));
    at::Tensor norms = column_norms_below(inverse);
    if (minor == 0 && norms.isfinite().all().item<bool>()) {
      clear_above(matrix.data_ptr<double>(), n);
      return {matrix.t(), norms};
    }
    // The plain way may still succeed, and says what is wrong where it does not.
    matrix.diagonal().copy_(diagonal);
    mirror_lower(matrix);  // what was overwritten is the upper triangle by rows
  }
  const at::Tensor factor = cholesky_in_place(matrix, what);
  return {factor, inverse_diagonal_from_factor(factor)};
}

double log_determinant_of_factor(const at::Tensor& factor) { return 2 * factor.diagonal().log().sum().item<double>(); }

at::Tensor inverse_from_factor(const at::Tensor& factor) {
  at::Tensor inverse = triangular_inverse(factor);
  std::optional<SingleBlasThread> single;
  if (factor.size(0) < kThreadedBlas) single.emplace();
  const int size = static_cast<int>(factor.size(0)), leading = std::max(size, 1);
  int info = 0;
  dlauum_("L", &size, inverse.data_ptr<double>(), &leading, &info);  // L⁻ᵀ L⁻¹
  mirror_lower(inverse);
  return inverse.t();
}

at::Tensor inverse_diagonal_from_factor(const at::Tensor& factor) { return triangular_inverse_column_norms(factor); }

}  // namespace ockham
