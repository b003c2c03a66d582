#include "ockham/linalg/cholesky.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/linalg/factorise.h"
#include "ockham/linalg/mirror.h"
#include "ockham/linalg/triangular_inverse.h"

extern "C" {
void dlauum_(const char* triangle, const int* n, double* a, const int* lda, int* info);
}

namespace ockham {
namespace {

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

}  // namespace

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
  for (int64_t j = 1; j < n; ++j) std::fill_n(values + j * n, j, 0.0);
  return matrix.t();
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
