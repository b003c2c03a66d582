#include "ockham/linalg/cholesky.h"

#include <ATen/ATen.h>

#include <cmath>
#include <optional>
#include <string>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"

namespace ockham {
namespace {

constexpr int64_t kThreadedFrom = 1000;

/// Below that size two BLAS threads are slower than one.
class ThreadsForSize {
 public:
  explicit ThreadsForSize(int64_t n) {
    if (n < kThreadedFrom) single_.emplace();
  }

 private:
  std::optional<SingleBlasThread> single_;
};

}  // namespace

at::Tensor cholesky(const at::Tensor& matrix, const char* what) {
  const int64_t n = matrix.size(0);
  const ThreadsForSize threads(n);
  const auto [factor, info] = at::linalg_cholesky_ex(matrix.detach());
  const int minor = info.item<int>();
  // A NaN in the lower triangle reaches the factor's diagonal, and some BLAS libraries do not report it.
  if (minor == 0 && at::isfinite(factor.diagonal()).all().item<bool>()) return factor;
  const std::string name = std::string(what) + " [" + std::to_string(n) + ", " + std::to_string(n) + "]";
  if (!at::isfinite(matrix).all().item<bool>()) {
    throw Error(
        ErrorKind::numerical,
        "The " + name + " has entries that are not finite; check the weights and the data for NaN and overflow.");
  }
  throw Error(ErrorKind::numerical, "The " + name + " is not positive definite (leading minor of order " +
                                        std::to_string(minor == 0 ? n : minor) +
                                        "); use larger prior precisions or float64.");
}

double log_determinant_of_factor(const at::Tensor& factor) { return 2 * factor.diagonal().log().sum().item<double>(); }

at::Tensor inverse_from_factor(const at::Tensor& factor) {
  const ThreadsForSize threads(factor.size(0));
  return at::cholesky_inverse(factor);
}

}  // namespace ockham
