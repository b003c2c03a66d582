#include "app/fit_plan.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/fit_candidates.h"
#include "app/fit_log_det.h"
#include "app/fit_minibatch.h"
#include "app/fit_preset.h"
#include "app/fit_timing.h"
#include "app/model_choices.h"
#include "ockham/base/error.h"
#include "ockham/select/automatic_image_settings.h"
#include "ockham/select/automatic_settings.h"
#include "ockham/select/elimination.h"

namespace ockham::app {
namespace {

constexpr int64_t kImageBatch = 128;  // of a curvature pass: more examples at once only leave the caches

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

AugmentOptions augment_of(AugmentChoice choice) {
  AugmentOptions options;
  options.flip = choice == AugmentChoice::flip || choice == AugmentChoice::crop_flip;
  options.crop_padding = choice == AugmentChoice::crop || choice == AugmentChoice::crop_flip ? 4 : 0;
  return options;
}

/// The paper counts each example five times where crops and flips make more of it; a flip alone makes two.
double automatic_weight(AugmentChoice choice) {
  return choice == AugmentChoice::none ? 1 : choice == AugmentChoice::flip ? 2 : 5;
}

CandidatesOptions make_options(const FitFlags& flags, const Likelihood& likelihood, bool images) {
  CandidatesOptions options;
  options.restarts = static_cast<size_t>(flags.restarts);
  options.workers = static_cast<size_t>(flags.workers.value_or(1));
  if (flags.workers) options.threads = TrainingThreads::one_each;
  // One after the other, or when the time may not be enough for all: those first that are soon done.
  const bool early_results = options.workers == 1 || flags.common.time_limit > 0;
  options.order = early_results ? TrainingOrder::cheapest_first : TrainingOrder::dearest_first;
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
  if (!flags.lr_milestones.empty()) online.optimiser.milestones = flags.lr_milestones;
  online.map.batch_size = *flags.batch_size;
  online.map.augment = augment_of(flags.augment);
  online.stall_passes = flags.patience;
  online.seed = flags.common.seed;
  online.laplace.likelihood_weight = *flags.likelihood_weight;
  online.laplace.slq = slq_of(flags.log_det, flags.common.seed);
  CurvatureOptions& curvature = online.laplace.curvature;
  curvature.structure = structure_of(flags.structure);
  curvature.kind = curvature_of(flags.curvature);
  curvature.kronecker_rule = kronecker_rule_of(flags.kronecker);
  curvature.mc_samples = flags.mc_samples;
  curvature.ggn_tolerance = flags.ggn_tolerance;
  curvature.seed = flags.common.seed;
  curvature.batch_size = images ? kImageBatch : 1024;
  curvature.memory_budget = flags.common.memory;
  const auto* gaussian = std::get_if<Gaussian>(&likelihood);
  curvature.root_derivatives = flags.learn_temperature || (gaussian != nullptr && gaussian->noise_per_output);
  return options;
}

/// By counted operations, without a look at the clock.
EpochCost estimate_epoch_cost(const ProblemSize& problem, const Candidate& candidate, AutomaticSettings settings,
                              bool images) {
  const auto seconds = [&] {
    return images ? estimated_image_epoch_seconds(problem, candidate.cost, settings)
                  : estimated_epoch_seconds(problem, candidate.parameters, settings);
  };
  const auto frequency = static_cast<double>(settings.frequency);
  const double with_passes = seconds();
  settings.frequency = std::numeric_limits<int32_t>::max();
  const double alone = seconds();
  return {alone / problem.threads, (with_passes - alone) * frequency / problem.threads};
}

/// One epoch, and one pass with an estimated log determinant, of every training together.
EpochCost slq_cost_of_all(const FitPlan& plan, const ProblemSize& problem, AutomaticSettings settings, bool images) {
  settings.batch_size = *plan.flags.batch_size;
  settings.structure = structure_of(plan.flags.log_det.preconditioner);
  const double restarts = static_cast<double>(plan.flags.restarts);
  EpochCost all;
  for (const Candidate& candidate : plan.candidates) {
    const EpochCost one = estimate_epoch_cost(problem, candidate, settings, images);
    all.epoch += restarts * one.epoch;
    all.pass += restarts * (one.pass + slq_epochs(plan.flags.log_det) * one.epoch);
  }
  return all;
}

/// What `auto` means for these candidates.
AutomaticSettings settle(const FitPlan& plan, const ProblemSize& problem, const FitData& data) {
  const int64_t restarts = plan.flags.restarts;
  if (!data.images) {
    std::vector<int64_t> parameters;
    for (const Candidate& candidate : plan.candidates) parameters.push_back(candidate.parameters);
    return automatic_settings(problem, parameters, restarts);
  }
  std::vector<double> work;
  for (const Candidate& candidate : plan.candidates) work.push_back(candidate.cost);
  return automatic_image_settings(problem, work, restarts);
}

}  // namespace

FitPlan plan_fit(const FitFlags& flags, const FitData& data, Messages& messages, ProgressLine& line) {
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
  if (own_networks)
    resolved.networks = data.images ? automatic_image_networks(data.input_shape()) : automatic_networks();
  check_networks(resolved.networks);
  apply_preset(resolved, messages);
  if (flags.likelihood == LikelihoodChoice::unset) resolved.likelihood = automatic_likelihood(data);
  check_likelihood(resolved, data);
  plan.likelihood = likelihood_of(resolved.likelihood, /*noise_per_output=*/data.outputs() > 1);

  const int64_t columns = root_columns(plan.likelihood, data.outputs(), {});
  const ProblemSize problem{data.training.size(),  data.features(), data.outputs(), columns,
                            !data.is_regression(), threads};
  // The networks are made before the automatic values are known, to count their weights.
  const bool own_precision = resolved.prior_precision.empty();
  if (own_precision) resolved.prior_precision = {1};
  if (resolved.noise.empty()) resolved.noise = {1};
  plan.candidates = make_candidates(resolved, data, plan.likelihood);
  const AutomaticSettings automatic = settle(plan, problem, data);

  if (resolved.structure == StructureChoice::unset) {
    resolved.structure = choice_of(automatic.structure);
    chosen.push_back(fmt::format("--structure {}", word_of(resolved.structure)));
  }
  if (resolved.optimizer == OptimizerChoice::unset) resolved.optimizer = OptimizerChoice::adam;
  choose(resolved.epochs, automatic.epochs, "epochs");
  choose(resolved.batch_size, automatic.batch_size, "batch-size");
  choose(resolved.lr, automatic.learning_rate, "lr");
  if (resolved.lr_schedule == ScheduleChoice::unset) {
    resolved.lr_schedule = ScheduleChoice::cosine;
    chosen.push_back("--lr-schedule cosine");
  }
  // While the learning rate is high, the weights are far from a mode.
  // With batches a state that counts costs a pass over all data.
  const bool all_count = resolved.lr_schedule == ScheduleChoice::constant && !resolved.minibatch.chosen();
  choose(resolved.best_after, all_count ? 0 : *resolved.epochs * 9 / 10, "best-after");
  choose(resolved.burn_in, automatic.burn_in, "burn-in");
  const bool images = data.images.has_value();
  const int64_t usual = images ? automatic_image_frequency(*resolved.epochs) : automatic_frequency(*resolved.epochs);
  int64_t hyper_steps = automatic.hyper_steps;
  if (resolved.log_det.estimated()) {
    AutomaticSettings dear = automatic;
    dear.epochs = *resolved.epochs;
    dear.frequency = usual;
    const EpochCost all = slq_cost_of_all(plan, problem, automatic, images);
    choose(resolved.frequency, affordable_frequency(dear, all.epoch, all.pass), "frequency");
    hyper_steps = slq_hyper_steps(hyper_steps, usual, *resolved.frequency);
  }
  choose(resolved.frequency, usual, "frequency");
  if (resolved.minibatch.chosen()) {
    const PartitionSizes sizes = batch_sizes(
        resolved.minibatch, root_columns(plan.likelihood, data.outputs(), {curvature_of(resolved.curvature)}));
    const PartitionSizes used = sizes.within(data.training.size());
    const int64_t most = resolved.minibatch.shared ? sizes.largest : used.largest;  // above what is shared
    choose(resolved.minibatch.batch, most, "evidence-batch");
    choose(resolved.minibatch.shared, used.shared, "evidence-shared");
    hyper_steps = minibatch_hyper_steps(hyper_steps, data.training.size(), sizes);
  }
  choose(resolved.hyper_steps, hyper_steps, "hyper-steps");
  choose(resolved.hyper_lr, automatic.hyper_step_size, "hyper-lr");
  // Without a number of workers, each training in its turn has all threads.
  if (automatic.workers > 1) choose(resolved.workers, static_cast<int64_t>(automatic.workers), "workers");
  if (own_precision) {
    resolved.prior_precision = {automatic.prior_precision};
    chosen.push_back(fmt::format("--prior-precision {}", automatic.prior_precision));
  }
  if (std::holds_alternative<Gaussian>(plan.likelihood) && flags.noise.empty()) {
    const at::Tensor noise = automatic.noise * target_scales(data.encoding).contiguous();
    resolved.noise = {noise.data_ptr<double>(), noise.data_ptr<double>() + noise.numel()};
    chosen.push_back(fmt::format("--noise {:.4g}", fmt::join(resolved.noise, ",")));
  }
  if (resolved.likelihood_weight || resolved.augment == AugmentChoice::none) {
    if (!resolved.likelihood_weight) resolved.likelihood_weight = 1;
  } else {
    choose(resolved.likelihood_weight, automatic_weight(resolved.augment), "likelihood-weight");
  }
  if (own_networks)
    messages.add(fmt::format("candidates: {} (--network SPEC ... overrides)", fmt::join(resolved.networks, ", ")));
  if (!chosen.empty()) messages.add(fmt::format("chosen automatically: {}", fmt::join(chosen, " ")));

  plan.candidates = make_candidates(resolved, data, plan.likelihood);
  plan.options = make_options(resolved, plan.likelihood, images);
  plan.posterior = plan.options.online.laplace;
  mention_unused(plan.posterior, messages);
  if (resolved.minibatch.chosen()) use_minibatch(plan, data, messages);
  if (resolved.log_det.estimated()) messages.add(slq_words(resolved.log_det));
  if (resolved.eliminate) use_elimination(plan.options, data.training.size());
  AutomaticSettings used = automatic;
  used.frequency = *resolved.frequency;
  used.batch_size = *resolved.batch_size;
  used.hyper_steps = *resolved.hyper_steps;
  const LaplaceOptions& laplace = plan.options.online.laplace;
  used.structure = laplace.slq ? laplace.slq->preconditioner : laplace.curvature.structure;
  for (const Candidate& candidate : plan.candidates) {
    line.show(fmt::format("how long will an epoch of {} take?", candidate.network));
    plan.epoch_costs.push_back(images ? measure_epoch_cost(candidate, data.training, plan.options.online)
                                      : estimate_epoch_cost(problem, candidate, used, images));
    if (!images && resolved.minibatch.chosen()) {
      ProblemSize batch = problem;
      batch.examples = std::min(batch.examples, plan.options.online.evidence_batch.largest);
      const double batches = batches_a_pass(plan.options.online, problem.examples);
      plan.epoch_costs.back().pass = batches * estimate_epoch_cost(batch, candidate, used, images).pass;
    }
    const double products = slq_epochs(resolved.log_det) * plan.epoch_costs.back().epoch;
    plan.epoch_costs.back().pass += products;
    plan.expected_seconds += products;  // of the assessment
  }
  const EpochSchedule schedule{*resolved.epochs, *resolved.burn_in, *resolved.frequency};
  for (const EpochCost& cost : plan.epoch_costs)
    plan.expected_seconds +=
        static_cast<double>(flags.restarts) *
        (cost.epoch * static_cast<double>(schedule.epochs) + cost.pass * static_cast<double>(schedule.passes_after(0)));
  return plan;
}

void expect_memory(const FitPlan& plan, const FitData& data) {
  const LaplaceOptions& laplace = plan.posterior;
  CurvatureOptions curvature = laplace.curvature;
  if (laplace.slq) curvature.structure = laplace.slq->preconditioner;
  for (const Candidate& candidate : plan.candidates) {
    try {
      expect_curvature_fits(candidate.make(0).network, plan.likelihood, data.training, curvature);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("--network {}: {}", candidate.network, error.what()));
    }
  }
}

RunConfiguration fit_configuration(const FitFlags& resolved, const FitData& data) {
  RunConfiguration configuration;
  for (const auto& [flag, value] : fit_settings(resolved)) configuration[flag] = value;
  configuration[data_checksum_name] = data.checksum;
  return configuration;
}

}  // namespace ockham::app
