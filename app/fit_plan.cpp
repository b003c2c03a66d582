#include "app/fit_plan.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "app/model_choices.h"
#include "ockham/base/cpu.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "ockham/network/torchscript.h"
#include "ockham/select/automatic_settings.h"
#include "ockham/select/elimination.h"

namespace ockham::app {
namespace {

constexpr uint64_t kWeightStream = 0x7765696768740000;

bool is_torchscript(const std::string& network) {
  return std::filesystem::path(network).extension() == ".pt" || std::filesystem::exists(network);
}

/// Weights from the stream of (seed, candidate, restart); those of a TorchScript file are as they were saved.
Network make_network(const FitFlags& flags, const FitData& data, size_t candidate, uint64_t restart, int64_t outputs) {
  const std::string& name = flags.networks[candidate];
  const at::ScalarType dtype = flags.common.dtype == FloatType::float64 ? at::kDouble : at::kFloat;
  if (!is_torchscript(name))
    return make_architecture(name, {data.features()}, outputs, dtype,
                             stream_seed({flags.common.seed, candidate, restart, kWeightStream}));
  Network network = load_torchscript(name, dtype);
  const at::NoGradGuard no_gradients;
  const at::Tensor output = network.forward(data.training.inputs().narrow(0, 0, 1).to(dtype));
  if (output.dim() != 2 || output.size(1) != outputs)
    throw Error(
        ErrorKind::usage,
        fmt::format("--network {}: it gives outputs of shape [{}] for one example of {} features, but [1, {}] is "
                    "needed for this target",
                    name, fmt::join(output.sizes(), ", "), data.features(), outputs));
  return network;
}

LikelihoodChoice automatic_likelihood(const FitData& data) {
  return data.is_regression() ? LikelihoodChoice::gaussian : LikelihoodChoice::categorical;
}

void check_likelihood(const FitFlags& flags, const FitData& data) {
  if (flags.likelihood == LikelihoodChoice::bernoulli && data.encoding.classes.size() != 2)
    throw Error(ErrorKind::usage, fmt::format("--likelihood bernoulli: it is for two classes, and there are {}; use "
                                              "categorical",
                                              data.encoding.classes.size()));
  if (flags.learn_temperature && data.is_regression())
    throw Error(ErrorKind::usage, "--learn-temperature: a regression has no temperature; leave it out");
}

/// The start of the hyperparameters, for standardised targets.
Hyperparameters starting_values(const FitFlags& flags, const FitData& data, const Likelihood& likelihood,
                                const Prior& prior, int64_t outputs) {
  Hyperparameters values = default_likelihood_hyperparameters(likelihood, outputs);
  values.log_prior_precision = log_precisions_of(at::tensor(flags.prior_precision, at::kDouble), flags.prior, prior);
  if (values.log_noise.numel() == 0) return values;
  const at::Tensor noise = at::tensor(flags.noise, at::kDouble);
  if (noise.numel() != 1 && noise.numel() != data.outputs())
    throw Error(ErrorKind::usage, fmt::format("--noise: {} values came for {} targets; give one for all, or one each",
                                              noise.numel(), data.outputs()));
  values.log_noise = (noise / target_scales(data.encoding)).log();
  return values;
}

std::vector<Candidate> make_candidates(const FitFlags& flags, const FitData& data, const Likelihood& likelihood) {
  std::vector<Candidate> candidates;
  const int64_t outputs = std::holds_alternative<Bernoulli>(likelihood) ? 1 : data.outputs();
  for (size_t index = 0; index < flags.networks.size(); ++index) {
    Candidate candidate;
    candidate.network = flags.networks[index];
    candidate.make = [flags, &data, likelihood, index, outputs](uint64_t restart) {
      const Network network = make_network(flags, data, index, restart, outputs);
      const Prior prior = prior_of(flags.prior, network.layout());
      return Model{network, likelihood, prior, starting_values(flags, data, likelihood, prior, outputs)};
    };
    candidate.cost = static_cast<double>(candidate.make(0).network.layout().total());
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

CandidatesOptions make_options(const FitFlags& flags, const Likelihood& likelihood) {
  CandidatesOptions options;
  options.restarts = static_cast<size_t>(flags.restarts);
  options.workers = static_cast<size_t>(*flags.workers);
  OnlineOptions& online = options.online;
  online.epochs = *flags.epochs;
  online.burn_in = *flags.burn_in;
  online.frequency = *flags.frequency;
  online.best_after = *flags.best_after;
  online.hyper.steps = *flags.hyper_steps;
  online.hyper.step_size = *flags.hyper_lr;
  online.hyper.learn_temperature = flags.learn_temperature;
  online.optimiser.kind = flags.optimizer == OptimizerChoice::sgd ? OptimiserKind::sgd : OptimiserKind::adam;
  online.optimiser.learning_rate = *flags.lr;
  online.optimiser.momentum = flags.momentum;
  online.optimiser.schedule = flags.lr_schedule == ScheduleChoice::constant ? LearningRateSchedule::constant
                              : flags.lr_schedule == ScheduleChoice::step   ? LearningRateSchedule::step
                                                                            : LearningRateSchedule::cosine;
  online.map.batch_size = *flags.batch_size;
  online.stall_passes = flags.patience;
  online.seed = flags.common.seed;
  online.laplace.likelihood_weight = flags.likelihood_weight;
  CurvatureOptions& curvature = online.laplace.curvature;
  curvature.structure = structure_of(flags.structure);
  curvature.kind = curvature_of(flags.curvature);
  curvature.kronecker_rule = kronecker_rule_of(flags.kronecker);
  curvature.mc_samples = flags.mc_samples;
  curvature.seed = flags.common.seed;
  curvature.batch_size = 1024;
  curvature.memory_budget = flags.common.memory;
  const auto* gaussian = std::get_if<Gaussian>(&likelihood);
  curvature.root_derivatives = flags.learn_temperature || (gaussian != nullptr && gaussian->noise_per_output);
  return options;
}

}  // namespace

FitPlan plan_fit(const FitFlags& flags, const FitData& data, Messages& messages) {
  FitPlan plan;
  FitFlags& resolved = plan.flags;
  resolved = flags;
  const int threads = flags.common.threads > 0 ? static_cast<int>(flags.common.threads) : at::get_num_threads();
  resolved.common.threads = static_cast<unsigned>(threads);

  std::vector<std::string> chosen;  // "flag value"
  const auto choose = [&](auto& place, auto value, const char* flag) {
    if (place) return;
    place = value;
    chosen.push_back(fmt::format("--{} {}", flag, value));
  };
  const bool own_networks = flags.networks.empty();
  if (own_networks) resolved.networks = automatic_networks();
  const std::set<std::string> distinct(resolved.networks.begin(), resolved.networks.end());
  if (distinct.size() != resolved.networks.size())
    throw Error(ErrorKind::usage, "--network: a network is given twice; use --restarts for several trainings of one");
  for (const std::string& name : resolved.networks)
    if (!is_torchscript(name)) check_architecture(name);
  if (flags.likelihood == LikelihoodChoice::unset) resolved.likelihood = automatic_likelihood(data);
  check_likelihood(resolved, data);
  plan.likelihood = likelihood_of(resolved.likelihood, /*noise_per_output=*/data.outputs() > 1);

  const int64_t columns = root_columns(plan.likelihood, data.outputs(), {});
  const ProblemSize problem{data.training.size(),  data.features(), data.outputs(), columns,
                            !data.is_regression(), threads};
  // The networks are made before the automatic values are known, to count their weights.
  if (resolved.prior_precision.empty()) resolved.prior_precision = {1};
  if (resolved.noise.empty()) resolved.noise = {1};
  plan.candidates = make_candidates(resolved, data, plan.likelihood);
  std::vector<int64_t> parameters;
  for (const Candidate& candidate : plan.candidates) parameters.push_back(static_cast<int64_t>(candidate.cost));
  const AutomaticSettings automatic = automatic_settings(problem, parameters, flags.restarts);

  if (flags.structure == StructureChoice::unset) {
    resolved.structure = choice_of(automatic.structure);
    chosen.push_back(fmt::format("--structure {}", word_of(resolved.structure)));
  }
  choose(resolved.epochs, automatic.epochs, "epochs");
  choose(resolved.batch_size, automatic.batch_size, "batch-size");
  choose(resolved.lr, automatic.learning_rate, "lr");
  if (flags.lr_schedule == ScheduleChoice::unset) {
    resolved.lr_schedule = ScheduleChoice::cosine;
    chosen.push_back("--lr-schedule cosine");
  }
  // While the learning rate is high, the weights are far from a mode.
  choose(resolved.best_after, resolved.lr_schedule == ScheduleChoice::constant ? 0 : *resolved.epochs * 9 / 10,
         "best-after");
  choose(resolved.burn_in, automatic.burn_in, "burn-in");
  choose(resolved.frequency, automatic_frequency(*resolved.epochs), "frequency");
  choose(resolved.hyper_steps, automatic.hyper_steps, "hyper-steps");
  choose(resolved.hyper_lr, automatic.hyper_step_size, "hyper-lr");
  choose(resolved.workers, static_cast<int64_t>(automatic.workers), "workers");
  if (flags.prior_precision.empty()) {
    resolved.prior_precision = {automatic.prior_precision};
    chosen.push_back(fmt::format("--prior-precision {}", automatic.prior_precision));
  }
  if (std::holds_alternative<Gaussian>(plan.likelihood) && flags.noise.empty()) {
    const at::Tensor noise = automatic.noise * target_scales(data.encoding).contiguous();
    resolved.noise = {noise.data_ptr<double>(), noise.data_ptr<double>() + noise.numel()};
    chosen.push_back(fmt::format("--noise {:.4g}", fmt::join(resolved.noise, ",")));
  }
  if (own_networks)
    messages.add(fmt::format("candidates: {} (--network SPEC ... overrides)", fmt::join(resolved.networks, ", ")));
  if (!chosen.empty()) messages.add(fmt::format("chosen automatically: {}", fmt::join(chosen, " ")));

  plan.candidates = make_candidates(resolved, data, plan.likelihood);
  plan.options = make_options(resolved, plan.likelihood);
  if (resolved.eliminate) use_elimination(plan.options, data.training.size());
  AutomaticSettings used = automatic;
  used.frequency = *resolved.frequency;
  used.batch_size = *resolved.batch_size;
  used.hyper_steps = *resolved.hyper_steps;
  used.structure = plan.options.online.laplace.curvature.structure;
  for (const int64_t count : parameters)
    plan.expected_seconds += estimated_epoch_seconds(problem, count, used) * static_cast<double>(*resolved.epochs) *
                             static_cast<double>(flags.restarts) / threads;
  return plan;
}

}  // namespace ockham::app
