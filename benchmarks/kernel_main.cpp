// kernel_benchmarks: Google Benchmark, started again with the settings that the tool runs under, so that it times the
// kernels that users have.
#include <benchmark/benchmark.h>

#include "ockham/base/environment.h"

int main(int argc, char** argv) {
  ockham::restart_with_tuned_environment(argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
