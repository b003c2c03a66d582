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

struct Result {
  const ockham::bench::Setting& setting;
  std::string structure, curvature;
  int threads = 0;
  int64_t memory_training = 0, memory_curvature = 0;
  ockham::bench::Timing timing;

  // With a tolerance the columns that are left, and so the products, depend on the data.
  bool counts_products() const { return setting.curvature.ggn_tolerance == 0; }
};

nlohmann::json as_json(const Result& result) {
  const ockham::bench::Timing& timing = result.timing;
  const auto unless = [](bool missing, double value) { return missing ? nlohmann::json() : nlohmann::json(value); };
  const bool pass_only = result.setting.pass_only, uncounted = !result.counts_products();
  const auto memory = [&](int64_t bytes) { return pass_only ? nlohmann::json() : nlohmann::json(bytes); };
  return {{"schema", 1},
          {"network", result.setting.network},
          {"structure", result.structure},
          {"curvature", result.curvature},
          {"samples", result.setting.samples},
          {"batch", result.setting.batch},
          {"threads", result.threads},
          {"parameters", timing.parameters},
          {"seconds_train_epoch", timing.seconds_train_epoch},
          {"seconds_curvature", timing.seconds_curvature},
          {"seconds_decompose", unless(pass_only, timing.seconds_decompose)},
          {"ratio", timing.ratio},
          {"ratio_fit_and_step", unless(pass_only, timing.ratio_fit_and_step)},
          {"peak_memory_bytes", memory(result.memory_curvature)},
          {"peak_memory_training_bytes", memory(result.memory_training)},
          {"seconds_per_hyper_step", unless(pass_only, timing.seconds_per_hyper_step)},
          {"gemm_gflops", timing.gemm_gflops},
          {"gflops_curvature", unless(uncounted, timing.gflops_curvature)},
          {"flop_train_epoch", timing.flop.train_epoch},
          {"flop_curvature", unless(uncounted, timing.flop.curvature)},
          {"flop_bound", unless(uncounted, timing.flop.ratio())},
          {"loss", timing.loss}};
}

void print(const Result& result) {
  const ockham::bench::Setting& setting = result.setting;
  const ockham::bench::Timing& timing = result.timing;
  const auto memory = [&](int64_t bytes) {
    return setting.pass_only ? std::string() : "   peak memory " + ockham::human_bytes(bytes);
  };
  fmt::print("{} with {} parameters, {} {}, N = {}, batch {}, {} threads, gemm {:.0f} GFLOP/s\n", setting.network,
             timing.parameters, result.structure, result.curvature, setting.samples, setting.batch, result.threads,
             timing.gemm_gflops);
  fmt::print("  training epoch   {:10.3f} ms{}\n", 1e3 * timing.seconds_train_epoch, memory(result.memory_training));
  fmt::print("  curvature pass   {:10.3f} ms{}\n", 1e3 * timing.seconds_curvature, memory(result.memory_curvature));
  if (!setting.pass_only) {
    fmt::print("  decomposition    {:10.3f} ms\n", 1e3 * timing.seconds_decompose);
    fmt::print("  hyper step       {:10.3f} ms\n", 1e3 * timing.seconds_per_hyper_step);
    fmt::print("  fit and one step / training {:.2f}\n", timing.ratio_fit_and_step);
  }
  fmt::print("  ratio {:.2f} curvature / training", timing.ratio);
  if (result.counts_products())
    fmt::print("; {:.2f} by counted products alone, {:.0f} GFLOP/s reached", timing.flop.ratio(),
               timing.gflops_curvature);
  fmt::print("; loss {:.3g} an example\n", timing.loss);
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
  app.add_option("--ggn-tolerance", setting.curvature.ggn_tolerance,
                 "share of the trace up to which Gauss-Newton columns are folded; 0 is exact")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--prior", prior, "prior")->check(CLI::IsMember({"scalar", "layerwise"}))->capture_default_str();
  app.add_option("--dtype", dtype, "type of the network")
      ->check(CLI::IsMember({"float32", "float64"}))
      ->capture_default_str();
  app.add_option("--repetitions", setting.repetitions, "alternating repetitions, at least 5")->capture_default_str();
  app.add_option("--hyper-steps", setting.hyper_steps, "hyperparameter steps that are timed together, at least 100")
      ->capture_default_str();
  app.add_option("--epochs-before", setting.epochs_before, "training epochs before anything is timed")
      ->capture_default_str();
  app.add_flag("--pass-only", setting.pass_only,
               "time training epochs and curvature passes only: no decomposition, steps or memory");
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

  Result result{setting, structure, curvature, threads, 0, 0, {}};
  if (!setting.pass_only) {  // first: children must fork before this process starts threads
    result.memory_training = ockham::bench::measure_training_memory(setting);
    result.memory_curvature = ockham::bench::measure_curvature_memory(setting);
  }
  ockham::set_threads(threads);
  ockham::keep_freed_memory();
  result.timing = ockham::bench::measure_time(setting);

  if (json)
    fmt::print("{}\n", as_json(result).dump());
  else
    print(result);
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
    const std::string message = error.what();  // libtorch adds a back-trace below the first line
    fmt::print(stderr, "ockham-bench: {}\n", message.substr(0, message.find('\n')));
    return 1;
  }
}
