#include "experiments/toy_training.h"

#include <ATen/ATen.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "experiments/kept_training.h"
#include "ockham/base/error.h"
#include "ockham/network/architectures.h"

namespace ockham::paper {
namespace {

constexpr size_t kTracePoints = 250;
constexpr int64_t kFullSeeds = 3;

Json exponentials(const at::Tensor& logarithms) {
  Json values = Json::array();
  const at::Tensor log_values = logarithms.to(at::kDouble).contiguous().view({-1});
  for (int64_t i = 0; i < log_values.numel(); ++i) values.push_back(rounded(std::exp(log_values[i].item<double>())));
  return values;
}

}  // namespace

OnlineOptions paper_settings(int64_t epochs) {
  OnlineOptions options;
  options.epochs = epochs;
  options.frequency = 1;
  options.optimiser.learning_rate = 1e-2;
  options.hyper.steps = 1;
  options.hyper.step_size = 1e-2;
  options.laplace.curvature.structure = Structure::full;
  options.laplace.curvature.batch_size = 1000;
  return options;
}

Json describe(const OnlineOptions& options) {
  return {{"epochs", options.epochs},
          {"learning_rate", options.optimiser.learning_rate},
          {"F", options.frequency},
          {"K", options.hyper.steps},
          {"B", options.burn_in},
          {"step", options.hyper.step_size},
          {"learn_prior", options.hyper.learn_prior},
          {"learn_temperature", options.hyper.learn_temperature},
          {"best_after", options.best_after},
          {"structure", "full GGN"}};
}

Json describe(const ToyNetwork& network) {
  return {{"network", network.spec},
          {"network_seed", network.seed},
          {"prior", network.prior == ToyPrior::scalar ? "scalar" : "layerwise"},
          {"first_precision", network.precision}};
}

ToyRun train_toy(const CellContext& context, const ToyProblem& problem, const ToyNetwork& toy,
                 const OnlineOptions& options) {
  const Network network =
      make_architecture(toy.spec, {problem.train.inputs().size(1)}, problem.outputs, at::kDouble, toy.seed);
  const Prior prior =
      toy.prior == ToyPrior::scalar ? Prior::scalar(network.layout()) : Prior::layerwise(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(problem.likelihood, problem.outputs);
  start.log_prior_precision = at::full({prior.size()}, std::log(toy.precision), at::kDouble);
  ToyRun run{{network, problem.likelihood, prior, start}, {}};
  run.result = train_kept(context, run.model, problem.train, options);
  if (!run.result.best.mode.defined())
    throw Error(ErrorKind::numerical, "the training failed before its first evidence: " + run.result.failure);
  run.model.hyperparameters = run.result.best.hyperparameters;
  return run;
}

Json state_of(const ToyRun& run, const ToyProblem& problem) {
  Json state = {{"log_evidence", run.result.best.log_evidence},
                {"last_log_evidence", run.result.state.passes.back().log_evidence},
                {"precision", exponentials(run.model.hyperparameters.log_prior_precision)},
                {"precision_names", run.model.prior.names()},
                {"gradient_norm", run.result.gradient_norm},
                {"N", problem.train.size()},
                {"parameters", run.model.network.layout().total()},
                {"failure", run.result.failure}};
  if (std::holds_alternative<Gaussian>(problem.likelihood))
    state["noise"] = std::exp(run.model.hyperparameters.log_noise.item<double>());
  else
    state["temperature"] = std::exp(run.model.hyperparameters.log_temperature.item<double>());
  return state;
}

Json trace_of(const OnlineResult& result) {
  const auto& passes = result.state.passes;
  const size_t stride = std::max<size_t>(1, (passes.size() + kTracePoints - 1) / kTracePoints);
  Json trace = {{"epoch", Json::array()}, {"log_evidence", Json::array()}, {"precision", Json::array()}};
  for (size_t i = 0; i < passes.size(); ++i) {
    if (i % stride != 0 && i + 1 != passes.size()) continue;
    const Hyperparameters& now = passes[i].hyperparameters;
    trace["epoch"].push_back(passes[i].epoch);
    trace["log_evidence"].push_back(rounded(passes[i].log_evidence));
    trace["precision"].push_back(exponentials(now.log_prior_precision));
    if (now.log_noise.numel() > 0) trace["noise"].push_back(exponentials(now.log_noise)[0]);
    if (now.log_temperature.numel() > 0) trace["temperature"].push_back(exponentials(now.log_temperature)[0]);
  }
  return trace;
}

double number(const Json& result, const std::string& name) {
  const auto found = result.find(name);
  return found != result.end() && found->is_number() ? found->get<double>() : NAN;
}

std::vector<double> numbers(const Json& values) {
  std::vector<double> out;
  for (const Json& value : values) out.push_back(value.is_number() ? value.get<double>() : NAN);
  return out;
}

double rounded(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr) : value;
}

std::vector<uint64_t> ToySeeds::all() const {
  std::vector<uint64_t> seeds;
  for (int64_t i = 0; i < count; ++i) seeds.push_back(first + static_cast<uint64_t>(i));
  return seeds;
}

ToySeeds toy_seeds(const Settings& settings) {
  return {settings.seed, settings.splits > 0 ? settings.splits : settings.quick ? 1 : kFullSeeds};
}

const Json* find_result(const Results& results, const std::string& name) {
  const auto found = results.find(name);
  return found == results.end() ? nullptr : &found->second;
}

}  // namespace ockham::paper
