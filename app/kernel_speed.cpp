#include "app/kernel_speed.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "ockham/linalg/cholesky.h"
#include "ockham/linalg/gram.h"

namespace ockham::app {
namespace {

using Clock = std::chrono::steady_clock;

/// Best of several runs: the machine may be busy with other work.
double gflops(double operations, const std::function<void()>& kernel) {
  kernel();  // the first run also allocates and starts threads
  double best = 0;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(80);
  for (int runs = 0; runs < 3 || (runs < 50 && Clock::now() < end); ++runs) {
    const Clock::time_point start = Clock::now();
    kernel();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, operations / seconds / 1e9);
  }
  return best;
}

double product_speed(int64_t n, at::ScalarType type) {
  const at::Tensor a = at::rand({n, n}, type), b = at::rand({n, n}, type);
  at::Tensor c = at::empty({n, n}, type);
  return gflops(2.0 * n * n * n, [&] { at::mm_out(c, a, b); });
}

double gram_speed(int64_t rows, int64_t n) {
  const at::Tensor x = at::rand({rows, n}, at::kFloat);
  at::Tensor sum = at::zeros({n, n}, at::kFloat);
  return gflops(1.0 * rows * n * n, [&] { add_gram_lower(sum, x); });
}

double cholesky_speed(int64_t n) {
  const at::Tensor x = at::rand({n, n}, at::kDouble);
  const at::Tensor matrix = x.mm(x.t()).add_(at::eye(n, at::kDouble));
  return gflops(1.0 * n * n * n / 3, [&] { cholesky(matrix, "a random matrix"); });
}

double convolution_speed(int64_t batch, int64_t channels, int64_t side) {
  const at::Tensor x = at::rand({batch, channels, side, side}, at::kFloat);
  const at::Tensor weight = at::rand({channels, channels, 3, 3}, at::kFloat);
  return gflops(2.0 * batch * channels * channels * 9 * side * side,
                [&] { at::conv2d(x, weight, {}, /*stride=*/1, /*padding=*/1); });
}

}  // namespace

std::vector<KernelSpeed> measure_kernels() {
  const at::NoGradGuard no_grad;
  return {{"sgemm", "product of matrices, float32, 1024", product_speed(1024, at::kFloat)},
          {"dgemm", "product of matrices, float64, 1024", product_speed(1024, at::kDouble)},
          {"ssyrk", "sum of outer products, float32, 1024", gram_speed(1024, 1024)},
          {"cholesky", "Cholesky factor, float64, 1000", cholesky_speed(1000)},
          {"convolution", "convolution 3x3, float32, 64 channels", convolution_speed(32, 64, 32)}};
}

}  // namespace ockham::app
