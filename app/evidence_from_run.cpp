// ockham evidence --from-run: the evidence of a finished run, computed again, perhaps with another curvature.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "app/evidence_report.h"
#include "app/fit_plan.h"
#include "app/messages.h"
#include "app/model_choices.h"
#include "app/ranks.h"
#include "app/subcommands.h"
#include "ockham/base/error.h"
#include "ockham/network/architectures.h"
#include "ockham/network/scaled_images.h"
#include "ockham/network/torchscript.h"
#include "ockham/predict/trained_model.h"
#include "ockham/select/map_training.h"
#include "ockham/store/run_directory.h"

namespace ockham::app {
namespace {

/// The flags of the fit, as its config.toml has them.
FitFlags read_fit_flags(const RunDirectory& run) {
  const std::string path = run.path_of(RunFile::configuration);
  const char* arguments[] = {"ockham", "fit", "--config", path.c_str()};
  const CommandLine line = parse_command_line(4, arguments);
  if (!line.flags || !std::holds_alternative<FitFlags>(*line.flags))
    throw Error(ErrorKind::data,
                fmt::format("{}: it is not the configuration of a fit ({}); make the run again", path, line.complaint));
  return std::get<FitFlags>(*line.flags);
}

/// The same weights and hyperparameters in that floating type.
Model in_type(const TrainedModel& trained, at::ScalarType type) {
  const int64_t outputs = trained.posterior.data_fit.outputs();
  Network network = trained.torchscript.empty()
                        ? make_architecture(trained.network, trained.input_shape, outputs, type, 0)
                        : parse_torchscript(trained.torchscript, trained.network, type);
  if (trained.images) network = scale_images(network, *trained.images);
  network.set_flat_parameters(trained.model.network.flat_parameters());
  return {network, trained.model.likelihood, trained.model.prior, trained.model.hyperparameters};
}

struct RunProblem {
  TrainedModel trained;
  FitFlags flags;
  FitData data;
};

RunProblem read_run(const std::string& directory) {
  const RunDirectory run = RunDirectory::open(directory);
  TrainedModel trained = load_trained_model(run.path_of(RunFile::model));
  const FitFlags flags = read_fit_flags(run);
  Messages silent(/*quiet=*/true);
  FitData data = read_fit_data(flags, silent);
  const auto recorded = run.configuration().find(data_checksum_name);
  if (recorded == run.configuration().end() || recorded->second != data.checksum)
    throw Error(ErrorKind::data,
                fmt::format("{}: the data are not those that the run was made with; restore the file", data.name));
  return {std::move(trained), flags, std::move(data)};
}

}  // namespace

int run_evidence_from_run(const EvidenceFlags& flags, Communicator& ranks) {
  const auto start = std::chrono::steady_clock::now();
  Messages messages(flags.common.quiet);
  std::optional<RunProblem> read;
  attempt_together(ranks, [&] {
    read = read_run(flags.from_run);
    expect_rows_for_all(ranks, read->data.training.size());
  });
  const TrainedModel& trained = read->trained;
  const FitFlags& fit_flags = read->flags;
  const FitData& data = read->data;

  EvidenceFlags shown = flags;
  const at::ScalarType own_type = trained.model.network.dtype();
  if (!flags.dtype_given) shown.common.dtype = own_type == at::kDouble ? FloatType::float64 : FloatType::float32;
  const at::ScalarType type = scalar_type_of(shown.common.dtype);
  const Model model = type == own_type ? trained.model : in_type(trained, type);
  const int64_t outputs = std::holds_alternative<Bernoulli>(model.likelihood) ? 1 : data.outputs();
  const Dataset prepared = prepare_data(model, data.training);
  shown.likelihood_weight = trained.posterior.options.likelihood_weight;
  shown.prior = fit_flags.prior;
  shown.noise.resize(static_cast<size_t>(std::max<int64_t>(1, model.hyperparameters.log_noise.numel())));
  if (!flags.log_det_given && !flags.minibatch.chosen())
    shown.log_det =
        flags.structure_given && flags.structure != StructureChoice::full ? LogDetFlags() : fit_flags.log_det;
  if (!flags.structure_given && !flags.minibatch.chosen())
    shown.structure = shown.log_det.estimated() ? StructureChoice::full : fit_flags.structure;
  check_prior(shown.log_det, shown.prior);
  if (shown.log_det.estimated() && flags.correction)
    throw Error(
        ErrorKind::usage,
        "--correction: it needs H⁻¹g of the full structure, which --log-det slq (of the run) does not have; leave "
        "it out, or add --log-det exact");
  if (!flags.curvature_given) shown.curvature = fit_flags.curvature;
  if (fit_flags.minibatch.chosen()) {
    if (!flags.minibatch.batch) shown.minibatch.batch = fit_flags.minibatch.batch;
    if (!flags.minibatch.shared && fit_flags.minibatch.shared < shown.minibatch.batch)
      shown.minibatch.shared = fit_flags.minibatch.shared;
  }

  LaplaceOptions options;
  options.likelihood_weight = shown.likelihood_weight;
  options.damping = flags.damping;
  options.slq = slq_of(shown.log_det, flags.common.seed);
  options.curvature.structure = structure_of(shown.structure);
  options.curvature.kind = curvature_of(shown.curvature);
  options.curvature.kronecker_rule = kronecker_rule_of(flags.kronecker_given ? flags.kronecker : fit_flags.kronecker);
  options.curvature.mc_samples = flags.mc_samples;
  options.curvature.ggn_tolerance = flags.ggn_tolerance_given ? flags.ggn_tolerance : fit_flags.ggn_tolerance;
  options.curvature.seed = flags.common.seed;
  options.curvature.batch_size = flags.batch_size;
  options.curvature.memory_budget = flags.common.memory;
  options.curvature.likelihood_gradient = flags.correction;
  options.curvature.root_derivatives = root_hyperparameter_count(model.likelihood, outputs) > 0;
  mention_unused(options, messages);
  LaplaceOptions together = options;
  if (ranks.size() > 1) together.communicator = &ranks;
  EvidenceReport report;
  report.outputs = outputs;
  if (flags.minibatch.chosen()) {
    add_bound(model, prepared, together, shown, report);
    if (!is_first(ranks)) return 0;
    messages.add(report.messages);
  } else {
    const LaplaceFit fit = fit_laplace(model, prepared, together);
    if (!is_first(ranks)) return 0;  // the rest is for one process
    messages.add(fit.messages);
    report.evidence = evidence(fit, model.hyperparameters, {flags.correction});
    if (flags.check) {
      const Model other = in_type(trained, type == at::kDouble ? at::kFloat : at::kDouble);
      const SelfCheckInput input{model, prepared, options, other, prepare_data(other, data.training)};
      report.checks = check_evidence(input, fit, report.evidence);
    }
    add_clipped(fit, report, messages);
    report.seconds_curvature = fit.seconds_curvature;
    report.seconds_decompose = fit.seconds_decompose;
  }
  // In the target's own units, as run.json has them.
  const double units = shown.likelihood_weight * log_density_in_target_units(data.encoding, 0, data.training.size());
  report.evidence.log_likelihood += units;
  report.evidence.value += units;
  report.hyperparameters = model.hyperparameters.clone();
  if (report.hyperparameters.log_noise.numel() > 0)
    report.hyperparameters.log_noise = report.hyperparameters.log_noise + target_scales(data.encoding).log();
  report.likelihood = name_of(model.likelihood);
  report.examples = data.training.size();
  report.parameters = model.network.layout().total();
  report.groups = model.prior.names();
  report.log_det = shown.log_det;
  report.messages = messages.all();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}", flags.common.json ? evidence_json(report, shown) : evidence_table(report, shown));
  return 0;
}

}  // namespace ockham::app
