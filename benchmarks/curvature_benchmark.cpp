// One curvature pass over 512 examples: structure and kind, on a small perceptron and a small Fixup ResNet.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "ockham/curvature/estimate_curvature.h"
#include "ockham/network/architectures.h"

namespace ockham {
namespace {

void curvature_pass(benchmark::State& state, const char* spec, const std::vector<int64_t>& input_shape,
                    Structure structure, CurvatureKind kind) {
  constexpr int64_t examples = 512, classes = 10;
  std::vector<int64_t> shape = {examples};
  shape.insert(shape.end(), input_shape.begin(), input_shape.end());
  const Network network = make_architecture(spec, input_shape, classes, at::kFloat, 0);
  const Dataset data(at::randn(shape), at::randint(classes, {examples}, at::kLong));
  const Likelihood likelihood = Categorical{};
  const Hyperparameters hyperparameters = default_likelihood_hyperparameters(likelihood, classes);
  CurvatureOptions options;
  options.structure = structure;
  options.kind = kind;
  options.verify = false;  // a training loop does it once
  for (auto _ : state)
    benchmark::DoNotOptimize(estimate_curvature(network, likelihood, data, hyperparameters, options).outputs);
  state.SetItemsProcessed(state.iterations() * examples);
}

int register_passes() {
  struct Case {
    const char *name, *spec;
    std::vector<int64_t> input_shape;
  };
  const std::vector<std::pair<const char*, Structure>> structures = {{"diag", Structure::diagonal},
                                                                     {"kron", Structure::kronecker}};
  const std::vector<std::pair<const char*, CurvatureKind>> kinds = {{"ef", CurvatureKind::empirical_fisher},
                                                                    {"ggn", CurvatureKind::ggn}};
  for (const Case& one : {Case{"mlp", "mlp:100-100", {64}}, Case{"resnet", "resnet:depth=8,width=8", {3, 16, 16}}}) {
    for (const auto& structure : structures) {
      for (const auto& kind : kinds) {
        const std::string name = std::string("curvature_pass/") + one.name + "/" + structure.first + "/" + kind.first;
        benchmark::RegisterBenchmark(name.c_str(), curvature_pass, one.spec, one.input_shape, structure.second,
                                     kind.second)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      }
    }
  }
  return 0;
}

[[maybe_unused]] const int registered = register_passes();  // before main, which has no other hook

}  // namespace
}  // namespace ockham
