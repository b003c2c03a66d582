// What observing costs: a forward and a backward pass with and without it, on a multi-layer perceptron.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/autograd.h>

#include "ockham/network/architectures.h"
#include "ockham/observe/observe_forward.h"

namespace ockham {
namespace {

struct Problem {
  explicit Problem(int64_t examples) : inputs(at::randn({examples, 100})), column(at::randn({examples, 10})) {}
  Network network = make_architecture("mlp:200-200", {100}, 10, at::kFloat, 0);
  at::Tensor inputs, column;
};

void forward_plain(benchmark::State& state) {
  const Problem problem(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(problem.network.forward(problem.inputs).data_ptr());
}
void forward_observed(benchmark::State& state) {
  const Problem problem(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(observe_forward(problem.network, problem.inputs).outputs().data_ptr());
}
BENCHMARK(forward_plain)->Arg(1)->Arg(128)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(forward_observed)->Arg(1)->Arg(128)->Unit(benchmark::kMicrosecond)->UseRealTime();

/// Autograd's gradients of the weights, against gradients of the layers' outputs alone.
void backward_to_weights(benchmark::State& state) {
  const Problem problem(state.range(0));
  const at::Tensor outputs = problem.network.forward(problem.inputs);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        torch::autograd::grad({outputs}, problem.network.parameters(), {problem.column}, /*retain_graph=*/true).data());
}
void backward_to_layer_outputs(benchmark::State& state) {
  const Problem problem(state.range(0));
  const Observation observation = observe_forward(problem.network, problem.inputs);
  for (auto _ : state) benchmark::DoNotOptimize(observation.backward(problem.column).data());
}
BENCHMARK(backward_to_weights)->Arg(1)->Arg(128)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(backward_to_layer_outputs)->Arg(1)->Arg(128)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace ockham
