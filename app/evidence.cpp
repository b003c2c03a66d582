#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>

#include "app/counted.h"
#include "app/evidence_flags.h"
#include "app/evidence_report.h"
#include "app/messages.h"
#include "app/model_choices.h"
#include "app/ranks.h"
#include "app/say.h"
#include "ockham/base/error.h"
#include "ockham/data/npy.h"
#include "ockham/network/torchscript.h"
#include "ockham/predict/linearised.h"

namespace ockham::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Network load_network(const std::string& name, at::ScalarType dtype) {
  const std::string kind = name.substr(0, name.find(':'));
  const bool is_spec = kind == "linear" || kind == "mlp" || kind == "cnn" || kind == "resnet";
  std::error_code ignored;
  if (is_spec && !std::filesystem::exists(name, ignored)) {
    throw Error(ErrorKind::usage,
                fmt::format("--network {}: the evidence is that of trained weights, which a specification does not "
                            "have; give a TorchScript file",
                            name));
  }
  return load_torchscript(name, dtype);
}

/// Floating inputs in the type of the computation; integers stay, since an embedding needs them.
at::Tensor read_inputs(const std::string& path, at::ScalarType dtype) {
  const at::Tensor inputs = read_npy(path);
  if (inputs.scalar_type() == at::kBool || at::isFloatingType(inputs.scalar_type())) return inputs.to(dtype);
  return inputs.to(at::kLong);
}

/// Outputs of the first examples. Integers that the network does not take are converted, with a message.
at::Tensor try_forward(const Network& network, at::Tensor& inputs, Messages& messages) {
  const at::NoGradGuard no_grad;
  const auto first_rows = [&] { return inputs.narrow(0, 0, std::min<int64_t>(2, inputs.size(0))); };
  if (inputs.scalar_type() != at::kLong) return network.forward(first_rows());
  try {
    return network.forward(first_rows());
  } catch (const Error& refusal) {
    inputs = inputs.to(network.dtype());
    at::Tensor outputs;
    try {
      outputs = network.forward(first_rows());
    } catch (const Error&) {
      throw refusal;
    }
    messages.add(fmt::format("--inputs: the integers were converted to {}, since the network takes no integers",
                             network.dtype() == at::kDouble ? "float64" : "float32"));
    return outputs;
  }
}

int64_t output_width(const at::Tensor& outputs, const std::string& path) {
  if (outputs.dim() != 2) {
    throw Error(ErrorKind::data,
                fmt::format("{}: the network gives outputs of shape [{}], but [N, C] is expected; add the missing "
                            "dimension or flatten it",
                            path, fmt::join(outputs.sizes(), ", ")));
  }
  return outputs.size(1);
}

Prior make_prior(const EvidenceFlags& flags, const ParameterLayout& layout) {
  return flags.prior == PriorChoice::groups ? Prior::grouped(layout, flags.groups) : prior_of(flags.prior, layout);
}

at::Tensor log_precisions(const EvidenceFlags& flags, const Prior& prior) {
  at::Tensor precision = at::tensor(flags.prior_precision, at::kDouble);
  if (!flags.prior_precision_file.empty()) {
    precision = read_npy(flags.prior_precision_file).to(at::kDouble).flatten();
    if (precision.numel() == 0 || !precision.isfinite().all().item<bool>() || precision.min().item<double>() <= 0) {
      throw Error(ErrorKind::data,
                  fmt::format("{}: every prior precision must be a positive number", flags.prior_precision_file));
    }
  }
  return log_precisions_of(precision, flags.prior, prior);
}

Hyperparameters make_hyperparameters(const EvidenceFlags& flags, const Likelihood& likelihood, const Prior& prior,
                                     int64_t outputs, Messages& messages) {
  Hyperparameters values = default_likelihood_hyperparameters(likelihood, outputs);
  values.log_prior_precision = log_precisions(flags, prior);
  const at::Tensor noise = at::tensor(flags.noise, at::kDouble);
  if (values.log_noise.numel() > 0) {
    if (noise.numel() != values.log_noise.numel()) {
      throw Error(ErrorKind::usage, fmt::format("--noise: {} came, but the network has {}; give one for all, or {}",
                                                counted(noise.numel(), "value"), counted(outputs, "output"), outputs));
    }
    values.log_noise = noise.log();
  } else if (noise.numel() > 1 || flags.noise[0] != 1) {
    messages.add(fmt::format("--noise is not used: the {} likelihood has none", name_of(likelihood)));
  }
  if (values.log_temperature.numel() > 0) {
    values.log_temperature.fill_(std::log(flags.temperature));
  } else if (flags.temperature != 1) {
    messages.add(fmt::format("--temperature is not used: the {} likelihood has none", name_of(likelihood)));
  }
  const bool kronecker = flags.log_det.estimated() ? flags.log_det.preconditioner == StructureChoice::kron
                                                   : flags.structure == StructureChoice::kron;
  if (flags.kronecker != KroneckerChoice::expand && !kronecker)
    messages.add("--kron-approx is not used: it belongs to --structure kron");
  return values;
}

/// Progress on a terminal, and the time limit.
std::function<void(int64_t)> watch(const CommonFlags& flags, int64_t examples, Clock::time_point start) {
  const bool show = !flags.quiet && !flags.json && ::isatty(2) == 1;
  return [=, limit = flags.time_limit](int64_t done) {
    if (limit > 0 && done < examples && seconds_since(start) > limit) {
      throw Error(
          ErrorKind::failure,
          fmt::format("--time-limit: {} of {} examples were done in {} s; give more time or a cheaper structure", done,
                      examples, limit));
    }
    if (show) say(fmt::format("\rcurvature: {}/{} examples{}", done, examples, done >= examples ? "\r\033[K" : ""));
  };
}

LaplaceOptions make_options(const EvidenceFlags& flags, const Prior& prior, bool root_derivatives) {
  LaplaceOptions options;
  options.likelihood_weight = flags.likelihood_weight;
  options.damping = flags.damping;
  options.slq = slq_of(flags.log_det, flags.common.seed);
  CurvatureOptions& curvature = options.curvature;
  curvature.structure = structure_of(flags.structure);
  curvature.kind = curvature_of(flags.curvature);
  curvature.kronecker_rule = kronecker_rule_of(flags.kronecker);
  curvature.mc_samples = flags.mc_samples;
  curvature.ggn_tolerance = flags.ggn_tolerance;
  curvature.seed = flags.common.seed;
  curvature.batch_size = flags.batch_size;
  curvature.memory_budget = flags.common.memory;
  curvature.root_derivatives = root_derivatives;
  curvature.likelihood_gradient = flags.correction;
  if (flags.structure == StructureChoice::block) {
    for (const auto& [name, members] : flags.groups) {
      std::vector<size_t> block;
      for (const auto& member : members) block.push_back(prior.layout().index_of(member));
      curvature.blocks.push_back(std::move(block));
    }
  }
  return options;
}

at::Tensor read_test_inputs(const std::string& path, const at::Tensor& inputs) {
  const at::Tensor test = read_npy(path).to(inputs.scalar_type());
  if (test.dim() != inputs.dim() || test.sizes().slice(1) != inputs.sizes().slice(1)) {
    throw Error(ErrorKind::data,
                fmt::format("{}: test inputs have shape [{}], but the inputs [{}]; they must agree after the first "
                            "dimension",
                            path, fmt::join(test.sizes(), ", "), fmt::join(inputs.sizes(), ", ")));
  }
  try {
    return Dataset(test, at::zeros({test.size(0)})).inputs();  // finite and not empty
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", path, error.what()));
  }
}

EvidencePredictive predict(const EvidenceFlags& flags, const Network& network, const LaplaceFit& fit,
                           const Hyperparameters& values, const at::Tensor& test_inputs) {
  const FunctionPredictive function = predict_function(network, fit, values, test_inputs, flags.batch_size);
  EvidencePredictive predictive;
  predictive.f_mean = function.mean;
  predictive.f_var = function.covariance;
  if (flags.likelihood == LikelihoodChoice::gaussian) predictive.pred_var = predict_regression(function, values).total;
  const bool classes =
      flags.likelihood == LikelihoodChoice::categorical || flags.likelihood == LikelihoodChoice::bernoulli;
  if (classes) predictive.probit = predict_probit(function);
  return predictive;
}

/// All that is read, and known to fit together.
struct Problem {
  Network network;
  at::Tensor inputs, raw_targets;
  Likelihood likelihood;
  int64_t outputs = 0;
  Dataset data;
  at::Tensor test_inputs;  // undefined when there are none
  Prior prior;
  Hyperparameters values;
};

Problem read_problem(const EvidenceFlags& flags, Messages& messages) {
  const at::ScalarType dtype = scalar_type_of(flags.common.dtype);
  const Network network = load_network(flags.network, dtype);
  at::Tensor inputs = read_inputs(flags.inputs, dtype);
  const at::Tensor raw_targets = read_npy(flags.targets);
  { const Dataset check(inputs, raw_targets); }  // lengths and finiteness, before anything is computed
  const Likelihood likelihood = likelihood_of(flags.likelihood, /*noise_per_output=*/flags.noise.size() > 1);
  const int64_t outputs = output_width(try_forward(network, inputs, messages), flags.network);
  const Dataset data(inputs, prepare_targets(likelihood, raw_targets, outputs, dtype));
  at::Tensor test_inputs;
  if (!flags.test_inputs.empty()) test_inputs = read_test_inputs(flags.test_inputs, inputs);
  const Prior prior = make_prior(flags, network.layout());
  const Hyperparameters values = make_hyperparameters(flags, likelihood, prior, outputs, messages);
  return {network, inputs, raw_targets, likelihood, outputs, data, test_inputs, prior, values};
}

/// What the ranks must have in common besides their flags.
std::string content_of(const Problem& problem) {
  std::string content;
  for (const at::Tensor& part : {problem.network.flat_parameters(), problem.inputs, problem.data.targets(),
                                 problem.values.log_prior_precision, problem.values.log_noise}) {
    const at::Tensor plain = part.contiguous();
    content.append(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
  }
  return content;
}

}  // namespace

int run_evidence(const EvidenceFlags& given) {
  const auto start = Clock::now();
  EvidenceFlags flags = given;
  const std::unique_ptr<Communicator> ranks = join_ranks(given.ranks, flags.common);
  if (!flags.from_run.empty()) return run_evidence_from_run(flags, *ranks);
  Messages messages(flags.common.quiet);

  std::optional<Problem> read;
  attempt_together(*ranks, [&] {
    read = read_problem(flags, messages);
    expect_rows_for_all(*ranks, read->data.size());
  });
  const Problem& problem = *read;
  if (ranks->size() > 1) expect_the_same(*ranks, content_of(problem));
  const Model model{problem.network, problem.likelihood, problem.prior, problem.values};
  const bool root_derivatives = root_hyperparameter_count(problem.likelihood, problem.outputs) > 0;
  LaplaceOptions options = make_options(flags, problem.prior, root_derivatives);
  mention_unused(options, messages);
  options.curvature.progress = watch(flags.common, problem.data.size(), start);

  LaplaceOptions together = options;
  if (ranks->size() > 1) together.communicator = ranks.get();

  EvidenceReport report;
  report.hyperparameters = problem.values;
  report.likelihood = name_of(problem.likelihood);
  report.examples = problem.data.size();
  report.outputs = problem.outputs;
  report.parameters = problem.network.layout().total();
  report.groups = problem.prior.names();
  report.log_det = flags.log_det;
  const auto finish = [&] {
    report.messages = messages.all();
    report.seconds = seconds_since(start);
    fmt::print("{}", flags.common.json ? evidence_json(report, flags) : evidence_table(report, flags));
    return 0;
  };
  if (flags.minibatch.chosen()) {
    add_bound(model, problem.data, together, flags, report);
    if (!is_first(*ranks)) return 0;
    messages.add(report.messages);
    return finish();
  }

  const LaplaceFit fit = fit_laplace(model, problem.data, together);
  if (!is_first(*ranks)) return 0;  // the rest is for one process
  for (const auto& message : fit.messages) messages.add(message);
  report.evidence = evidence(fit, problem.values, {flags.correction});
  add_clipped(fit, report, messages);
  if (problem.test_inputs.defined())
    report.predictive = predict(flags, problem.network, fit, problem.values, problem.test_inputs);
  if (flags.check) {
    const at::ScalarType other = problem.network.dtype() == at::kDouble ? at::kFloat : at::kDouble;
    SelfCheckInput input{model, problem.data, options, {}, {}};
    input.other_model = Model{load_network(flags.network, other), problem.likelihood, problem.prior, problem.values};
    input.other_data = Dataset(problem.inputs.is_floating_point() ? problem.inputs.to(other) : problem.inputs,
                               prepare_targets(problem.likelihood, problem.raw_targets, problem.outputs, other));
    report.checks = check_evidence(input, fit, report.evidence);
  }
  report.seconds_curvature = fit.seconds_curvature;
  report.seconds_decompose = fit.seconds_decompose;
  return finish();
}

}  // namespace ockham::app
