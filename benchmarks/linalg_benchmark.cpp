// Kernels of linalg/ at the sizes that networks have.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "ockham/linalg/cholesky.h"
#include "ockham/linalg/gram.h"
#include "ockham/linalg/log_sum.h"
#include "ockham/linalg/symmetric_eigen.h"

namespace ockham {
namespace {

at::Tensor positive_definite(int64_t n) {
  const at::Tensor rows = at::randn({2 * n, n}, at::kDouble);
  return rows.t().mm(rows) / (2 * n) + at::eye(n, at::kDouble);
}

/// One hyperparameter step of a Kronecker block: n² logarithms.
void sum_of_logarithms(benchmark::State& state) {
  const at::Tensor q = at::rand({state.range(0)}, at::kDouble), w = at::rand({state.range(0)}, at::kDouble);
  for (auto _ : state) benchmark::DoNotOptimize(log_sum_outer(q, w, 3.0, 0.5).log);
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(0));
}
BENCHMARK(sum_of_logarithms)->Arg(100)->Arg(1000)->UseRealTime();

/// Half of a general product's work, if the symmetric kernel is as good.
void gram_matrix(benchmark::State& state) {
  const at::Tensor rows = at::randn({4096, state.range(0)}, at::kDouble);
  for (auto _ : state) benchmark::DoNotOptimize(gram(rows).data_ptr());
}
void gram_matrix_by_product(benchmark::State& state) {
  const at::Tensor rows = at::randn({4096, state.range(0)}, at::kDouble);
  for (auto _ : state) benchmark::DoNotOptimize(at::mm(rows.t(), rows).data_ptr());
}
BENCHMARK(gram_matrix)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gram_matrix_by_product)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond)->UseRealTime();

void eigen_of_one(benchmark::State& state) {
  const std::vector<at::Tensor> matrices = {positive_definite(state.range(0))};
  for (auto _ : state) benchmark::DoNotOptimize(symmetric_eigen(matrices, state.range(1) != 0)[0].values.data_ptr());
}
BENCHMARK(eigen_of_one)
    ->ArgNames({"n", "vectors"})
    ->ArgsProduct({{100, 500}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void eigen_of_many(benchmark::State& state) {
  std::vector<at::Tensor> matrices;
  for (int64_t i = 0; i < state.range(0); ++i) matrices.push_back(positive_definite(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(symmetric_eigen(matrices, true).data());
}
BENCHMARK(eigen_of_many)
    ->ArgNames({"matrices", "n"})
    ->Args({16, 64})
    ->Args({8, 256})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// One hyperparameter step of a dense block.
void cholesky_and_inverse(benchmark::State& state) {
  const at::Tensor matrix = positive_definite(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(inverse_from_factor(cholesky(matrix, "the benchmark's matrix")).data_ptr());
}
BENCHMARK(cholesky_and_inverse)->Arg(455)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace ockham
