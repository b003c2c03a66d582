// Gradients sent back through the layers of image networks, ours beside libtorch's, for a batch of 128.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <array>

#include "ockham/linalg/pooling.h"
#include "ockham/linalg/sparse_convolution.h"

namespace ockham {
namespace {

constexpr int64_t kImages = 128;

at::Tensor draw(std::vector<int64_t> shape) { return at::randn(shape).contiguous(at::MemoryFormat::ChannelsLast); }

/// The poolings of cnn:3c3d on 32 × 32 pixels, behind a rectification.
struct Pooled {
  explicit Pooled(const benchmark::State& state)
      : images(draw({kImages, state.range(0), state.range(1), state.range(1)}).relu()) {
    std::tie(maxima, indices) = at::max_pool2d_with_indices(images, {3, 3}, {2, 2}, 0, 1, /*ceil_mode=*/true);
    gradient = draw(maxima.sizes().vec());
  }
  at::Tensor images, maxima, indices, gradient;
};

void pooling_back(benchmark::State& state) {
  const Pooled pooled(state);
  const PoolingOrigins origins(pooled.images, pooled.indices, {3, 3, 2, 2, 0, 0}, /*rectified=*/true);
  for (auto _ : state) benchmark::DoNotOptimize(origins.send_back(pooled.gradient).data_ptr());
}
void pooling_back_by_libtorch(benchmark::State& state) {
  const Pooled pooled(state);
  for (auto _ : state) {
    const at::Tensor sent = at::max_pool2d_with_indices_backward(pooled.gradient, pooled.images, {3, 3}, {2, 2}, 0, 1,
                                                                 true, pooled.indices);
    benchmark::DoNotOptimize(at::threshold_backward(sent, pooled.images, 0).data_ptr());
  }
}
void poolings(benchmark::internal::Benchmark* cases) {
  cases->ArgNames({"channels", "pixels"})->Args({64, 28})->Args({96, 12})->Args({128, 6});
  cases->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK(pooling_back)->Apply(poolings);
BENCHMARK(pooling_back_by_libtorch)->Apply(poolings);

/// 3 × 3 kernels with padding; a share of the gradients, in percent, is not zero.
struct Convolved {
  explicit Convolved(const benchmark::State& state)
      : images(draw({kImages, state.range(0), state.range(2), state.range(2)})),
        weight(at::randn({state.range(1), state.range(0), 3, 3})),
        gradient(draw({kImages, state.range(1), state.range(2), state.range(2)})) {
    gradient.mul_(at::rand(gradient.sizes()) < 0.01 * static_cast<double>(state.range(3)));
  }
  at::Tensor images, weight, gradient;
};

void convolution_back(benchmark::State& state) {
  const Convolved layer(state);
  if (!SparseConvolution::can_hold(layer.weight)) return state.SkipWithError("not on this processor");
  const SparseConvolution convolution(layer.weight, {1, 1, 1, 1});
  for (auto _ : state)
    benchmark::DoNotOptimize(convolution.send_back(layer.gradient, state.range(2), state.range(2)).data_ptr());
}
void convolution_back_by_libtorch(benchmark::State& state) {
  const Convolved layer(state);
  for (auto _ : state) {
    const auto sent = at::convolution_backward(layer.gradient, layer.images, layer.weight, c10::nullopt, {1, 1}, {1, 1},
                                               {1, 1}, false, {0, 0}, 1, std::array<bool, 3>{true, false, false});
    benchmark::DoNotOptimize(std::get<0>(sent).data_ptr());
  }
}
void convolutions(benchmark::internal::Benchmark* cases) {
  cases->ArgNames({"in", "out", "pixels", "percent"});
  for (const int64_t percent : {25, 50, 100}) cases->Args({64, 96, 12, percent})->Args({16, 16, 32, percent});
  cases->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK(convolution_back)->Apply(convolutions);
BENCHMARK(convolution_back_by_libtorch)->Apply(convolutions);

}  // namespace
}  // namespace ockham
