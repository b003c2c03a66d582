// Kernels of linalg/ at the sizes that networks have.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <functional>

#include "ockham/base/memory.h"
#include "ockham/base/platform.h"
#include "ockham/linalg/cholesky.h"
#include "ockham/linalg/gram.h"
#include "ockham/linalg/log_sum.h"
#include "ockham/linalg/product_gram.h"
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

/// The parts of a pass and a hyperparameter step of a dense block, as in an epoch of a small network: by threads.
void dense_part(benchmark::State& state, const std::function<void()>& part) {
  keep_freed_memory();
  set_threads(static_cast<int>(state.range(0)));
  {
    const SerialOperators serial;
    for (auto _ : state) part();
  }
  set_threads(available_cpus());
}

int register_dense_parts() {
  constexpr int64_t kWeights = 501, kRows = 691;
  static const at::Tensor rows = at::randn({kRows, kWeights}), matrix = positive_definite(kWeights);
  static const at::Tensor factor = cholesky(matrix, "the benchmark's matrix");
  // Three classes, the size of waveform: a pass of 21-50-3, all its rows, and their factors.
  constexpr int64_t kExamples = 3500, kClasses = 3;
  static const std::vector<ProductColumns> row_factors = {
      {at::randn({kExamples, kClasses, 50}), at::randn({kExamples, 21}), 0, 1050},
      {at::randn({kExamples, kClasses, kClasses}), at::randn({kExamples, 50}), 1100, 1250}};
  // One output after ReLUs, the size of energy: of the gradients half are there.
  static const at::Tensor gradients = at::randn({kRows, 1, 50}).mul_(at::randn({kRows, 1, 50}).gt(0));
  static const std::vector<ProductColumns> relu_factors = {{gradients, at::randn({kRows, 8}), 0, 400},
                                                           {at::ones({kRows, 1, 1}), at::randn({kRows, 50}), 450, 500}};
  static const at::Tensor class_rows = at::randn({kExamples * kClasses, 1253});
  const std::vector<std::pair<const char*, std::function<void()>>> parts = {
      {"dense/gram",
       [] {
         GramAccumulator accumulator(kWeights);
         accumulator.add(rows);
         benchmark::DoNotOptimize(accumulator.finish().data_ptr());
       }},
      {"dense/gram_of_relus_by_factors",
       [] { benchmark::DoNotOptimize(gram_of_products(relu_factors, kWeights).data_ptr()); }},
      {"dense/gram_of_classes",
       [] {
         GramAccumulator accumulator(class_rows.size(1));
         accumulator.add(class_rows);
         benchmark::DoNotOptimize(accumulator.finish().data_ptr());
       }},
      {"dense/gram_of_classes_by_factors",
       [] { benchmark::DoNotOptimize(gram_of_products(row_factors, class_rows.size(1)).data_ptr()); }},
      {"dense/copy", [] { benchmark::DoNotOptimize((matrix * 2).data_ptr()); }},
      {"dense/cholesky", [] { benchmark::DoNotOptimize(cholesky(matrix, "the benchmark's matrix").data_ptr()); }},
      {"dense/cholesky_and_inverse_diagonal",
       [] {
         benchmark::DoNotOptimize(
             cholesky_and_inverse_diagonal(matrix.clone(), "the benchmark's matrix").factor.data_ptr());
       }},
      {"dense/inverse_diagonal", [] { benchmark::DoNotOptimize(inverse_diagonal_from_factor(factor).data_ptr()); }}};
  for (const auto& [name, part] : parts)
    benchmark::RegisterBenchmark(name, dense_part, part)
        ->ArgName("threads")
        ->Arg(1)
        ->Arg(2)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  return 0;
}

[[maybe_unused]] const int dense_parts = register_dense_parts();

}  // namespace
}  // namespace ockham
