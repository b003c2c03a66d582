// ockham-bench: the cost of a curvature pass as a multiple of a training epoch, on random data, in one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "benchmarks/measure.h"
#include "ockham/base/environment.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/platform.h"

namespace {

std::vector<int64_t> parse_shape(const std::string& text) {
  std::vector<int64_t> shape;
  size_t position = 0;
  while (position < text.size()) {
    size_t end = text.find('x', position);
    if (end == std::string::npos) end = text.size();
    const std::string part = text.substr(position, end - position);
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos) {
      throw ockham::Error(ockham::ErrorKind::usage,
                          "--input-shape takes sizes joined by x, such as 784 or 3x32x32, not '" + text + "'.");
    }
    shape.push_back(std::stoll(part));
    position = end + 1;
  }
  return shape;
}

int run(int argc, char** argv) {
  ockham::bench::Setting setting;
  std::string input_shape = "784", structure = "kron", curvature = "ggn", likelihood = "categorical",
              prior = "layerwise", dtype = "float32";
  int64_t classes = 10, outputs = 0;
  int threads = 0;
  bool json = false;
  CLI::App app("Times a curvature pass against a training epoch of the same network on random data.", "ockham-bench");
  app.add_option("--network", setting.network, "network SPEC: linear, mlp:50-50, cnn:3c3d, resnet:depth=20")
      ->capture_default_str();
  app.add_option("--input-shape", input_shape, "sizes of one example, e.g. 784 or 3x32x32")->capture_default_str();
  app.add_option("--classes", classes, "classes of the categorical likelihood")->capture_default_str();
  app.add_option("--outputs", outputs, "outputs of the Gaussian likelihood");
  app.add_option("--likelihood", likelihood, "likelihood")
      ->check(CLI::IsMember({"categorical", "gaussian"}))
      ->capture_default_str();
  app.add_option("--samples", setting.samples, "examples")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--batch", setting.batch, "batch size of both")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--structure", structure, "structure")
      ->check(CLI::IsMember({"full", "kron", "block", "diag"}))
      ->capture_default_str();
  app.add_option("--curvature", curvature, "kind of curvature")
      ->check(CLI::IsMember({"ggn", "ef", "mc"}))
      ->capture_default_str();
  app.add_option("--prior", prior, "prior")->check(CLI::IsMember({"scalar", "layerwise"}))->capture_default_str();
  app.add_option("--dtype", dtype, "type of the network")
      ->check(CLI::IsMember({"float32", "float64"}))
      ->capture_default_str();
  app.add_option("--repetitions", setting.repetitions, "alternating repetitions, at least 5")->capture_default_str();
  app.add_option("--hyper-steps", setting.hyper_steps, "hyperparameter steps that are timed")->capture_default_str();
  app.add_option("--seed", setting.seed, "seed of weights and data")->capture_default_str();
  app.add_option("--threads", threads, "threads (default: the CPUs it may use)");
  app.add_flag("--json", json, "print one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw ockham::Error(ockham::ErrorKind::usage, error.what());
  }
  setting.input_shape = parse_shape(input_shape);
  setting.gaussian = likelihood == "gaussian";
  setting.outputs = outputs > 0 ? outputs : (setting.gaussian ? 1 : classes);
  setting.layerwise = prior == "layerwise";
  setting.dtype = dtype == "float64" ? at::kDouble : at::kFloat;
  using ockham::Structure;
  setting.curvature.structure = structure == "full"    ? Structure::full
                                : structure == "block" ? Structure::block
                                : structure == "kron"  ? Structure::kronecker
                                                       : Structure::diagonal;
  using ockham::CurvatureKind;
  setting.curvature.kind = curvature == "ggn"  ? CurvatureKind::ggn
                           : curvature == "ef" ? CurvatureKind::empirical_fisher
                                               : CurvatureKind::mc_fisher;
  if (threads <= 0) threads = ockham::available_cpus();

  // Children for the memory first: they must fork before this process starts threads.
  const int64_t memory_training = ockham::bench::measure_training_memory(setting);
  const int64_t memory_curvature = ockham::bench::measure_curvature_memory(setting);
  ockham::set_threads(threads);
  ockham::keep_freed_memory();
  const ockham::bench::Timing timing = ockham::bench::measure_time(setting);

  if (json) {
    const nlohmann::json result = {{"schema", 1},
                                   {"network", setting.network},
                                   {"structure", structure},
                                   {"curvature", curvature},
                                   {"samples", setting.samples},
                                   {"batch", setting.batch},
                                   {"threads", threads},
                                   {"parameters", timing.parameters},
                                   {"seconds_train_epoch", timing.seconds_train_epoch},
                                   {"seconds_curvature", timing.seconds_curvature},
                                   {"seconds_decompose", timing.seconds_decompose},
                                   {"ratio", timing.ratio},
                                   {"ratio_fit_and_step", timing.ratio_fit_and_step},
                                   {"peak_memory_bytes", memory_curvature},
                                   {"peak_memory_training_bytes", memory_training},
                                   {"seconds_per_hyper_step", timing.seconds_per_hyper_step},
                                   {"gemm_gflops", timing.gemm_gflops}};
    fmt::print("{}\n", result.dump());
    return 0;
  }
  fmt::print("{} with {} parameters, {} {}, N = {}, batch {}, {} threads, gemm {:.0f} GFLOP/s\n", setting.network,
             timing.parameters, structure, curvature, setting.samples, setting.batch, threads, timing.gemm_gflops);
  fmt::print("  training epoch   {:10.3f} ms   peak memory {}\n", 1e3 * timing.seconds_train_epoch,
             ockham::human_bytes(memory_training));
  fmt::print("  curvature pass   {:10.3f} ms   peak memory {}\n", 1e3 * timing.seconds_curvature,
             ockham::human_bytes(memory_curvature));
  fmt::print("  decomposition    {:10.3f} ms\n", 1e3 * timing.seconds_decompose);
  fmt::print("  hyper step       {:10.3f} ms\n", 1e3 * timing.seconds_per_hyper_step);
  fmt::print("  ratio {:.2f} curvature / training; fit and one step / training {:.2f}\n", timing.ratio,
             timing.ratio_fit_and_step);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ockham::restart_with_tuned_environment(
      argv);  // OpenBLAS reads its core type when it is loaded, and this program links it
  try {
    return run(argc, argv);
  } catch (const ockham::Error& error) {
    fmt::print(stderr, "ockham-bench: {}\n", error.what());
    return ockham::exit_code(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "ockham-bench: {}\n", error.what());
    return 1;
  }
}
