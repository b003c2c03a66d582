#include "app/fit_results.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "app/counted.h"
#include "app/fit_log_det.h"
#include "app/fit_minibatch.h"
#include "ockham/assess/rank_correlation.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/select/map_training.h"

namespace ockham::app {
namespace {

/// Nats that the quadratic model sees between θ and the mode: above this, a training ended too early to be sure.
constexpr double kFarFromMode = 5;
/// A linearised prediction costs as much as training on ten images or so: the summary must not outlast the training.
/// More than the most would hardly move the scores.
constexpr int64_t kTrainedPerPrediction = 50, kFewestLinearised = 100, kMostLinearised = 1000;

double in_target_units(const FitPlan& plan, const FitData& data, double log_density) {
  const double sum = log_density_in_target_units(data.encoding, 0, data.training.size());
  return log_density + *plan.flags.likelihood_weight * sum;
}

std::string mode_warning(const CandidateResult& selected, const Ranking& ranking) {
  const double lead = ranking.order.size() > 1 ? ranking.order[0].mean - ranking.order[1].mean : INFINITY;
  return fmt::format(
      "'{}' is not at a mode: its log posterior could still rise by about {:.3g} nats{}{}; more --epochs or "
      "a smaller --lr would help",
      selected.network, selected.correction,
      std::isfinite(selected.gradient_norm) ? fmt::format(" (gradient norm {:.3g})", selected.gradient_norm)
                                            : std::string(),
      selected.correction > lead ? fmt::format(", more than its lead of {:.3g}, so the ranking may be wrong", lead)
                                 : ", so its evidence is less certain");
}

/// The candidate in its best state.
Model best_model(const FitPlan& plan, const CandidateTraining& training) {
  Model model = plan.candidates[training.candidate].make(training.restart);
  model.network.set_flat_parameters(training.result.best.mode);
  model.hyperparameters = training.result.best.hyperparameters.clone();
  return model;
}

/// Of the kept restart, without a look at the data.
void describe(const FitPlan& plan, const FitData& data, const CandidateTraining& training, const Model& model,
              CandidateResult& result) {
  result.log_evidence = in_target_units(plan, data, training.result.best.log_evidence);
  const Hyperparameters& values = model.hyperparameters;
  if (values.log_noise.numel() > 0) {
    const at::Tensor noise = (values.log_noise.exp() * target_scales(data.encoding)).contiguous();
    result.noise = {noise.data_ptr<double>(), noise.data_ptr<double>() + noise.numel()};
  }
  if (values.log_temperature.numel() > 0) result.temperature = std::exp(values.log_temperature[0].item<double>());
  for (int64_t group = 0; group < model.prior.size(); ++group)
    result.prior_precision.emplace_back(model.prior.names()[static_cast<size_t>(group)],
                                        std::exp(values.log_prior_precision[group].item<double>()));
  result.at_bounds = reached_bounds(values, model.prior.names());
  result.epochs = training.result.state.epoch;
  result.best_epoch = training.result.best.epoch;
  result.gradient_norm = training.result.gradient_norm;
  result.passes = training.result.state.passes;
}

/// log|H|, or its bound, from log evidence = log likelihood + log prior + P/2 log 2π - ½ log|H|.
double log_det_of(const CandidateResult& result, const Model& model) {
  const double weights = static_cast<double>(model.prior.layout().total());
  return 2 * (result.log_likelihood + result.log_prior + 0.5 * weights * std::log(2 * M_PI) - result.log_evidence);
}

void add_terms(const FitPlan& plan, const FitData& data, const TrainedModel& trained, CandidateResult& result) {
  const Evidence terms = evidence(trained.posterior, trained.model.hyperparameters, {/*correction=*/true});
  result.log_likelihood = in_target_units(plan, data, terms.log_likelihood);
  result.log_prior = terms.log_prior;
  // The posterior's own is that of another structure where the evidence is a minibatch bound.
  result.log_det = plan.flags.minibatch.chosen() ? log_det_of(result, trained.model) : terms.log_det;
  result.log_det_error = terms.log_det_error;
  result.correction = terms.correction;
  result.clipped = clipped_spectrum(trained.posterior);
}

/// What the user should know about the numbers of the selected candidate.
void add_warnings(const CandidateResult& selected, const Ranking& ranking, std::vector<std::string>& warnings) {
  if (selected.correction > kFarFromMode) warnings.push_back(mode_warning(selected, ranking));
  for (const std::string& sentence : {describe_bounds(selected.at_bounds), describe_clipped(selected.clipped)})
    if (!sentence.empty()) warnings.push_back(fmt::format("'{}': {}", selected.network, sentence));
}

/// The terms without a curvature pass.
void add_terms_from_evidence(const FitPlan& plan, const FitData& data, const Model& model, CandidateResult& result) {
  result.log_likelihood =
      *plan.flags.likelihood_weight * static_cast<double>(data.training.size()) * result.train.log_likelihood;
  result.log_prior = Prior::log_density(model.prior.statistics(model.network.flat_parameters()),
                                        model.hyperparameters.log_prior_precision);
  result.log_det = log_det_of(result, model);
  result.correction = std::numeric_limits<double>::quiet_NaN();
}

ScoreOptions score_options(const FitPlan& plan, const FitData& data) {
  ScoreOptions options;
  options.memory_budget = plan.flags.common.memory;
  if (data.images)
    options.linearised_examples = std::clamp(data.training.size() * *plan.flags.epochs / kTrainedPerPrediction,
                                             kFewestLinearised, kMostLinearised);
  return options;
}

}  // namespace

std::optional<double> evidence_accuracy_correlation(const FitResults& results) {
  std::vector<double> evidences, accuracies;
  for (const CandidateResult& result : results.candidates) {
    if (!result.has_evidence || !result.test || !result.test->accuracy) continue;
    evidences.push_back(result.log_evidence);
    accuracies.push_back(*result.test->accuracy);
  }
  const auto all_equal = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
  };
  if (evidences.size() < 4 || all_equal(evidences) || all_equal(accuracies)) return std::nullopt;
  return spearman_correlation(at::tensor(evidences, at::kDouble), at::tensor(accuracies, at::kDouble));
}

FitScores score_fit(const FitPlan& plan, const FitData& data, const TrainedModel& trained,
                    const TimeIsOver& time_is_over, ProgressLine& line, const std::string& what) {
  const auto score_set = [&](const Dataset& set, const char* name) {
    ScoreOptions options = score_options(plan, data);
    if (time_is_over()) options.linearised_examples = 0;
    options.map_progress = count_examples(line, fmt::format("{}: {} data", what, name), set.size());
    options.progress = [&, show = count_examples(line, fmt::format("{}: {} data with uncertainties", what, name),
                                                 std::min(options.linearised_examples, set.size()))](int64_t done) {
      if (time_is_over()) throw ScoreOptions::LeaveOut();
      show(done);
    };
    return score(trained, set, options);
  };
  FitScores scores;
  scores.train = score_set(data.training, "training");
  if (data.test) scores.test = score_set(*data.test, "test");
  return scores;
}

TrainedModel with_posterior(const FitPlan& plan, const FitData& data, const std::string& network, Model model,
                            const std::function<void(int64_t examples_done)>& progress) {
  const Dataset prepared = prepare_data(model, data.training);
  LaplaceOptions options = plan.posterior;
  options.curvature.likelihood_gradient = true;
  options.curvature.root_derivatives = false;  // nothing is learnt any more
  options.curvature.progress = progress;
  LaplaceFit posterior = fit_laplace(model, prepared, options);
  std::error_code ignored;
  std::string torchscript = std::filesystem::exists(network, ignored) ? read_file(network) : std::string();
  TableEncoding encoding = data.encoding;
  encoding.messages.clear();  // a resumed run guesses nothing again, and its model has the same bits
  return TrainedModel{network,          std::move(torchscript), data.input_shape(),
                      std::move(model), std::move(posterior),   std::move(encoding),
                      data.images};
}

FitResults assess_trainings(const FitPlan& plan, const FitData& data, std::vector<CandidateTraining> trainings,
                            const TimeIsOver& time_is_over, ProgressLine& line) {
  const size_t count = plan.candidates.size();
  std::vector<CandidateScore> scores(count);
  std::vector<std::vector<size_t>> finished(count);  // trainings behind scores[i].log_evidences
  std::vector<CandidateResult> results(count);
  for (size_t i = 0; i < count; ++i) {
    results[i].network = scores[i].name = plan.candidates[i].network;
    results[i].parameters = plan.candidates[i].parameters;
    scores[i].comparability = evidence_words(plan);
  }
  for (size_t t = 0; t < trainings.size(); ++t) {
    const CandidateTraining& training = trainings[t];
    CandidateResult& result = results[training.candidate];
    const OnlineState& state = training.result.state;
    result.seconds_training += state.seconds_training;
    result.seconds_curvature += state.seconds_curvature;
    result.eliminated_at = std::max(result.eliminated_at, training.eliminated_at);
    std::string failure = training.result.failure;
    if (training.eliminated_at > 0) failure = "given up as hopeless after " + counted(training.eliminated_at, "epoch");
    // What diverged or was given up keeps no evidence: the best state before that was no end of a training.
    if (!failure.empty()) {
      result.failure = scores[training.candidate].failure = failure;
      continue;
    }
    scores[training.candidate].log_evidences.push_back(in_target_units(plan, data, training.result.best.log_evidence));
    finished[training.candidate].push_back(t);
  }

  FitResults all;
  const Ranking ranking = rank_by_evidence(scores);
  all.warnings = ranking.warnings;
  std::vector<bool> ranked(count);
  for (const RankedCandidate& place : ranking.order) {
    CandidateResult& result = results[place.candidate];
    ranked[place.candidate] = true;
    result.ranked = place;
    result.has_evidence = true;
    result.log_evidences = scores[place.candidate].log_evidences;
    const CandidateTraining& kept = trainings[finished[place.candidate][place.best_restart]];
    Model model = best_model(plan, kept);
    describe(plan, data, kept, model, result);
    const std::string what =
        fmt::format("assessing {} ({}/{})", result.network, all.candidates.size() + 1, ranking.order.size());
    line.show(what);
    if (all.selected && time_is_over()) {
      result.train = score_map(model, data.encoding, data.training,
                               count_examples(line, what + ": training data", data.training.size()));
      if (data.test)
        result.test =
            score_map(model, data.encoding, *data.test, count_examples(line, what + ": test data", data.test->size()));
      add_terms_from_evidence(plan, data, model, result);
    } else {
      try {
        TrainedModel trained = with_posterior(plan, data, result.network, std::move(model),
                                              count_examples(line, what + ": curvature", data.training.size()));
        add_terms(plan, data, trained, result);
        FitScores reached = score_fit(plan, data, trained, time_is_over, line, what);
        result.train = std::move(reached.train);
        result.test = std::move(reached.test);
        if (!all.selected) {
          all.selected = std::move(trained);
          add_warnings(result, ranking, all.warnings);
        }
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::numerical) throw;
        ranked[place.candidate] = result.has_evidence = false;
        result.failure = fmt::format("its assessment broke down: {}", error.what());
        all.warnings.push_back(fmt::format("'{}' has no evidence: {}", result.network, result.failure));
        continue;
      }
    }
    all.candidates.push_back(std::move(result));
  }
  if (!all.selected)
    throw Error(ErrorKind::numerical, fmt::format("No candidate could be assessed; the first, '{}', failed because {}",
                                                  results[ranking.order.front().candidate].network,
                                                  results[ranking.order.front().candidate].failure));
  for (size_t i = 0; i < count; ++i)
    if (!ranked[i]) all.candidates.push_back(std::move(results[i]));
  if (all.candidates.size() > 1 && all.candidates[1].has_evidence) {
    const std::string sentence = estimate_doubt(all.candidates[0], all.candidates[1]);
    if (!sentence.empty()) all.warnings.push_back(sentence);
  }
  line.clear();
  const auto is_short = [](const PredictiveScores& scores) { return scores.linearised_examples == 0; };
  for (const CandidateResult& result : all.candidates)
    if (result.has_evidence && (is_short(result.train) || (result.test && is_short(*result.test)))) all.in_time = false;
  if (!all.in_time)
    all.warnings.push_back(
        "the time limit was over before the assessment: scores with uncertainties (nll_bayes and the like) are left "
        "out, those of the networks alone are there; --resume adds them");
  for (CandidateResult& result : all.candidates) result.seconds = result.seconds_training + result.seconds_curvature;
  return all;
}

}  // namespace ockham::app
