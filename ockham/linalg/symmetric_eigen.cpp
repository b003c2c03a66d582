#include "ockham/linalg/symmetric_eigen.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"

namespace ockham {
namespace {

constexpr int64_t kThreadedFrom = 256;

std::string name_of_matrix(size_t index, int64_t n) {
  return "matrix " + std::to_string(index) + " [" + std::to_string(n) + ", " + std::to_string(n) + "]";
}

SymmetricEigen decompose(const at::Tensor& matrix, bool vectors) {
  if (!vectors) return {at::linalg_eigvalsh(matrix), at::Tensor()};
  auto [values, columns] = at::linalg_eigh(matrix);
  return {values, columns};
}

/// The first failure of several threads, as an Error without libtorch's back-trace.
class FirstFailure {
 public:
  void keep(size_t index, int64_t n) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (message_.empty()) {
      message_ = "The eigendecomposition of " + name_of_matrix(index, n) +
                 " did not converge; check the scale of the weights and the data, or use float64.";
    }
  }
  void rethrow() const {
    if (!message_.empty()) throw Error(ErrorKind::numerical, message_);
  }

 private:
  std::mutex mutex_;
  std::string message_;
};

}  // namespace

std::vector<SymmetricEigen> symmetric_eigen(const std::vector<at::Tensor>& matrices, bool vectors) {
  std::vector<at::Tensor> doubles;
  for (size_t i = 0; i < matrices.size(); ++i) {
    doubles.push_back(matrices[i].detach().to(at::kDouble));
    if (!at::isfinite(doubles.back()).all().item<bool>()) {
      throw Error(ErrorKind::numerical, "The curvature has entries that are not finite (" +
                                            name_of_matrix(i, matrices[i].size(0)) +
                                            "); check the weights and the data for NaN and overflow.");
    }
  }
  std::vector<size_t> order(doubles.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return doubles[a].size(0) > doubles[b].size(0); });

  std::vector<SymmetricEigen> results(doubles.size());
  FirstFailure failure;
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++) {
      const size_t index = order[i];
      try {
        results[index] = decompose(doubles[index], vectors);
      } catch (const std::exception&) {
        failure.keep(index, doubles[index].size(0));
      }
    }
  };
  const bool single_large = doubles.size() == 1 && doubles[0].size(0) >= kThreadedFrom;
  if (single_large) {
    work();
  } else if (!doubles.empty()) {
    const SingleBlasThread single;
    const int64_t workers = std::min<int64_t>(at::get_num_threads(), static_cast<int64_t>(doubles.size()));
    std::vector<std::thread> others;
    for (int64_t i = 1; i < workers; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }
  failure.rethrow();
  return results;
}

int64_t clip_negative(at::Tensor& values) {
  if (values.numel() == 0) return 0;
  const double largest = std::max(0.0, values.max().item<double>());
  const int64_t clipped = (values < -1e-12 * largest).sum().item<int64_t>();
  values.clamp_(0);
  return clipped;
}

}  // namespace ockham
