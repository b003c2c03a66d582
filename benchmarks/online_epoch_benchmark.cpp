// One epoch of online training with F = 1 and K = 1: full batch, Gaussian, layerwise prior, 50 hidden units. The tables
// have the sizes of two of the UCI's: energy, N = 691 and 8 inputs (P = 501), and boston, N = 455 and 13 (P = 751).
// The counters are over all epochs: wall time (`fastest_ms`, `median_ms`) and, for a busy machine, the processor time
// of all threads together (`cpu_fastest_ms`, `cpu_median_ms`; threads that wait by spinning count). `training` is the
// epoch without an estimate of the evidence.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "ockham/base/memory.h"
#include "ockham/base/platform.h"
#include "ockham/network/architectures.h"
#include "ockham/train/train_online.h"

namespace ockham {
namespace {

struct Table {
  const char* name;
  int64_t examples, inputs;
};
constexpr Table kEnergy{"energy", 691, 8}, kBoston{"boston", 455, 13};

double milliseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

Dataset random_rows(const Table& table) {
  const at::Generator generator = random_stream({3, 1});
  const at::Tensor inputs = at::randn({table.examples, table.inputs}, generator, at::TensorOptions(at::kFloat));
  const at::Tensor noise = at::randn({table.examples, 1}, generator, at::TensorOptions(at::kFloat));
  return Dataset(inputs, inputs.sin().sum(1, /*keepdim=*/true) + 0.1 * noise);
}

Model small_model(const Table& table, uint64_t seed) {
  const Network network = make_architecture("mlp:50", {table.inputs}, 1, at::kFloat, seed);
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 1);
  hyperparameters.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  return {network, Gaussian{}, prior, hyperparameters};
}

OnlineOptions every_epoch(Structure structure, CurvatureKind kind, int64_t epochs) {
  OnlineOptions options;
  options.epochs = epochs;
  options.hyper.steps = 1;
  options.hyper.step_size = 0.01;
  options.optimiser.learning_rate = 1e-2;
  options.laplace.curvature.structure = structure;
  options.laplace.curvature.kind = kind;
  options.laplace.curvature.batch_size = kEnergy.examples;
  return options;
}

struct Case {
  const char* name;
  Structure structure;
  CurvatureKind kind;
  bool training_only = false;
};

/// Single: all in one thread, as each of several workers does.
void online_epoch(benchmark::State& state, const Table& table, const Case& one, bool single) {
  constexpr int64_t epochs = 200;
  set_threads(single ? 1 : available_cpus());
  keep_freed_memory();
  const Dataset data = random_rows(table);
  OnlineOptions options = every_epoch(one.structure, one.kind, epochs);
  if (one.training_only) options.frequency = epochs;
  std::vector<double> wall, processor;
  for (auto _ : state) {
    const Model model = small_model(table, 0);
    double last_wall = 0, last_processor = 0;
    train_online(model, data, options, [&](const OnlineProgress& progress) {
      const double now_wall = milliseconds(CLOCK_MONOTONIC), now_processor = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
      // The first pass is verified, and the last epoch has a pass in any case.
      if (progress.epoch > 2 && progress.epoch < epochs) {
        wall.push_back(now_wall - last_wall);
        processor.push_back(now_processor - last_processor);
      }
      last_wall = now_wall;
      last_processor = now_processor;
      return true;
    });
  }
  std::sort(wall.begin(), wall.end());
  std::sort(processor.begin(), processor.end());
  state.counters["fastest_ms"] = wall.front();
  state.counters["median_ms"] = wall[wall.size() / 2];
  state.counters["cpu_fastest_ms"] = processor.front();
  state.counters["cpu_median_ms"] = processor[processor.size() / 2];
}

/// Epochs a second of all workers together, each a thread that runs single-threaded.
void workers(benchmark::State& state, const Case& one) {
  constexpr int64_t epochs = 200;
  const int64_t count = state.range(0);
  set_threads(available_cpus());
  keep_freed_memory();
  const Dataset data = random_rows(kEnergy);
  const OnlineOptions options = every_epoch(one.structure, one.kind, epochs);
  for (auto _ : state) {
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        const SingleThread single;
        train_online(small_model(kEnergy, static_cast<uint64_t>(i)), data, options);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  state.SetItemsProcessed(state.iterations() * count * epochs);
}

int register_epochs() {
  const std::vector<Case> cases = {{"training", Structure::diagonal, CurvatureKind::empirical_fisher, true},
                                   {"full/ggn", Structure::full, CurvatureKind::ggn},
                                   {"kron/ggn", Structure::kronecker, CurvatureKind::ggn},
                                   {"diag/ef", Structure::diagonal, CurvatureKind::empirical_fisher}};
  for (const Table& table : {kEnergy, kBoston}) {
    for (const Case& one : cases) {
      for (const bool single : {false, true}) {
        const std::string name =
            std::string("online_epochs/") + table.name + "/" + one.name + (single ? "/one_thread" : "/all_threads");
        benchmark::RegisterBenchmark(name.c_str(), online_epoch, table, one, single)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      }
    }
  }
  for (const Case& one : {cases[1], cases[2], cases[3]}) {
    const std::string name = std::string("online_workers/") + one.name;
    benchmark::RegisterBenchmark(name.c_str(), workers, one)
        ->Arg(1)
        ->Arg(2)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  return 0;
}

[[maybe_unused]] const int registered = register_epochs();  // before main, which has no other hook

}  // namespace
}  // namespace ockham
