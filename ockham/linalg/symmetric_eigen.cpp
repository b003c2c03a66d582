#include "ockham/linalg/symmetric_eigen.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <numeric>
#include <string>
#include <thread>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"

namespace ockham {
namespace {

constexpr int64_t kThreadedFrom = 256;
constexpr int64_t kSmall = 128;        // up to here a loop ends before an operator would have begun
constexpr double kWorthAThread = 3e6;  // Σ n³ below which starting a thread costs more than it saves

double work_of(const std::vector<at::Tensor>& matrices) {
  double work = 0;
  for (const at::Tensor& matrix : matrices) work += std::pow(static_cast<double>(matrix.size(0)), 3);
  return work;
}

std::string name_of_matrix(size_t index, int64_t n) {
  return "matrix " + std::to_string(index) + " [" + std::to_string(n) + ", " + std::to_string(n) + "]";
}

/// LAPACK without what libtorch does around it, which takes half as long as the values of a small matrix do.
at::Tensor small_values(const at::Tensor& matrix) {
  at::Tensor copy = matrix.clone(at::MemoryFormat::Contiguous), values = at::empty({matrix.size(0)}, at::kDouble);
  const int n = static_cast<int>(matrix.size(0)), leading = std::max(n, 1), integers = 1;
  // Values alone need 2n + 1 numbers, and more for the block reduction, which pays above this size only.
  std::vector<double> work(static_cast<size_t>(2 * n + 1 + 64 * n));
  const int size = static_cast<int>(work.size());
  int integer = 0, info = 0;
  dsyevd_("N", "L", &n, copy.data_ptr<double>(), &leading, values.data_ptr<double>(), work.data(), &size, &integer,
          &integers, &info);
  return info == 0 ? values : at::Tensor();
}

bool is_finite(const at::Tensor& doubles) {
  if (doubles.size(0) > kSmall || !doubles.is_contiguous()) return at::isfinite(doubles).all().item<bool>();
  const double* first = doubles.data_ptr<double>();
  return std::all_of(first, first + doubles.numel(), [](double value) { return std::isfinite(value); });
}

/// Turns every column so that its product with a fixed vector is positive. That vector's entries, 1/2 plus the
/// fractional parts of multiples of the golden ratio, are all different: no simple column is orthogonal to it.
void fix_signs(at::Tensor& columns) {
  const at::Tensor counts = at::arange(1, columns.size(0) + 1, at::kDouble);
  const at::Tensor fixed = (counts * 0.6180339887498949).frac() + 0.5;
  columns.mul_(at::where(fixed.matmul(columns) < 0, -1.0, 1.0));
}

SymmetricEigen decompose(const at::Tensor& matrix, bool vectors, const std::string& name) {
  const at::Tensor doubles = matrix.detach().to(at::kDouble);
  if (!is_finite(doubles)) {
    throw Error(ErrorKind::numerical, "The curvature has entries that are not finite (" + name +
                                          "); check the weights and the data for NaN and overflow.");
  }
  try {
    if (!vectors && doubles.size(0) <= kSmall) {
      const at::Tensor values = small_values(doubles);
      if (values.defined()) return {values, at::Tensor()};
    }
    if (!vectors) return {at::linalg_eigvalsh(doubles), at::Tensor()};
    auto [values, columns] = at::linalg_eigh(doubles);
    fix_signs(columns);
    return {values, columns};
  } catch (const c10::Error&) {
    throw Error(ErrorKind::numerical,
                "The eigendecomposition of " + name +
                    " did not converge; check the scale of the weights and the data, or use float64.");
  }
}

}  // namespace

std::vector<SymmetricEigen> symmetric_eigen(const std::vector<at::Tensor>& matrices, bool vectors) {
  std::vector<size_t> order(matrices.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return matrices[a].size(0) > matrices[b].size(0); });

  std::vector<SymmetricEigen> results(matrices.size());
  std::vector<std::exception_ptr> failures(matrices.size());
  std::atomic<size_t> next{0};
  const auto decompose_waiting = [&] {
    for (size_t i = next++; i < order.size(); i = next++) {
      const size_t index = order[i];
      try {
        results[index] = decompose(matrices[index], vectors, name_of_matrix(index, matrices[index].size(0)));
      } catch (...) {
        failures[index] = std::current_exception();
      }
    }
  };
  // Otherwise every worker would have an OpenMP team of its own, whose idle threads spin on the CPUs that the other
  // workers need (measured: twice the time of one worker).
  const auto work = [&] {
    const SingleThread single;
    decompose_waiting();
  };
  const bool single_large = matrices.size() == 1 && matrices[0].size(0) >= kThreadedFrom;
  if (single_large || work_of(matrices) < kWorthAThread) {
    decompose_waiting();
  } else if (!matrices.empty()) {
    const SingleBlasThread single;  // over all workers, so that none changes the number
    const int64_t workers = std::min<int64_t>(at::get_num_threads(), static_cast<int64_t>(matrices.size()));
    std::vector<std::thread> others;
    for (int64_t i = 1; i < workers; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return results;
}

int64_t clip_negative(at::Tensor& values) {
  if (values.numel() == 0) return 0;
  if (values.numel() > kSmall || !values.is_contiguous()) {
    const double largest = std::max(0.0, values.max().item<double>());
    const int64_t clipped = (values < -1e-12 * largest).sum().item<int64_t>();
    values.clamp_(0);
    return clipped;
  }
  double *first = values.data_ptr<double>(), *last = first + values.numel();
  const double largest = std::max(0.0, *std::max_element(first, last));
  const int64_t clipped = std::count_if(first, last, [&](double value) { return value < -1e-12 * largest; });
  std::replace_if(
      first, last, [](double value) { return value < 0; }, 0.0);
  return clipped;
}

}  // namespace ockham
