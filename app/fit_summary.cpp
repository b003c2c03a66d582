#include "app/fit_summary.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/counted.h"
#include "app/durations.h"
#include "app/fit_log_det.h"
#include "app/log_det_report.h"
#include "app/scores_report.h"

namespace ockham::app {
namespace {

using Json = nlohmann::ordered_json;

Json one_or_many(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  if (values.size() == 1) return values[0];
  return values;
}

Json candidate_json(const FitSummary& summary, const CandidateResult& result) {
  Json json;
  json["network"] = result.network;
  json["parameters"] = result.parameters;
  const bool known = result.has_evidence;
  const auto value = [known](double number) { return known ? Json(number) : Json(nullptr); };
  json["log_marginal_likelihood"] = value(result.log_evidence);
  json["log_marginal_likelihood_per_example"] =
      value(result.log_evidence / static_cast<double>(summary.data.training.size()));
  json["log_likelihood"] = value(result.log_likelihood);
  json["log_prior"] = value(result.log_prior);
  json["log_det"] = value(result.log_det);
  if (result.log_det_error)
    json["log_det_error"] = log_det_error_json(*result.log_det_error, summary.plan.flags.log_det);
  json["distance_to_mode"] = value(result.correction);
  json["mean_log_marginal_likelihood"] = value(result.ranked.mean);
  json["spread"] = result.log_evidences.size() > 1 ? value(result.ranked.spread) : Json(nullptr);
  json["probability"] = value(result.ranked.probability);
  json["restarts"] = result.log_evidences;
  json["prior_precision"] = Json::object();
  for (const auto& [name, precision] : result.prior_precision) json["prior_precision"][name] = precision;
  json["noise"] = one_or_many(result.noise);
  json["temperature"] = result.temperature ? Json(*result.temperature) : Json(nullptr);
  json["at_bounds"] = Json::array();
  for (const ReachedBound& reached : result.at_bounds)
    json["at_bounds"].push_back({{"hyperparameter", reached.hyperparameter}, {"bound", reached.bound}});
  json["clipped_eigenvalues"] = known ? Json(result.clipped.clipped) : Json(nullptr);
  if (summary.plan.flags.minibatch.chosen()) json["lower_bound"] = summary.plan.is_bound();
  json["structure"] = word_of(summary.plan.flags.structure);
  json["curvature"] = word_of(summary.plan.flags.curvature);
  json["epochs"] = result.epochs;
  json["best_epoch"] = result.best_epoch;
  if (result.eliminated_at > 0) json["eliminated_at"] = result.eliminated_at;
  json["seconds"] = result.seconds;
  json["seconds_training"] = result.seconds_training;
  json["seconds_curvature"] = result.seconds_curvature;
  json["gradient_norm"] = value(result.gradient_norm);
  json["failure"] = result.failure.empty() ? Json(nullptr) : Json(result.failure);
  if (known) json["train"] = scores_json(result.train);
  if (known && result.test) json["test"] = scores_json(*result.test);
  return json;
}

Json baseline_json(const FitBaseline& baseline) {
  Json json;
  json["network"] = baseline.network;
  json["prior_precision"] = baseline.prior_precision;
  json["trainings"] = baseline.search.trainings;
  json["train"] = scores_json(baseline.train);
  if (baseline.test) json["test"] = scores_json(*baseline.test);
  json["grid"] = Json::array();
  for (const GridSetting& setting : baseline.search.settings) {
    const bool scored = std::isfinite(setting.nll);
    json["grid"].push_back({{"network", baseline.networks[setting.candidate]},
                            {"prior_precision", setting.precision},
                            {"validation_nll_standardised", scored ? Json(setting.nll) : Json(nullptr)},
                            {"failure", setting.failure.empty() ? Json(nullptr) : Json(setting.failure)}});
  }
  json["seconds"] = baseline.search.seconds;
  return json;
}

const PredictiveScores& shown_scores(const CandidateResult& result) {
  return result.test ? *result.test : result.train;
}

bool have_uncertainty(const PredictiveScores& scores) { return scores.linearised_examples == scores.examples; }

/// With uncertainty where that was computed for all examples, else by the network alone.
std::string metric(const CandidateResult& result, bool regression) {
  const PredictiveScores& scores = shown_scores(result);
  const bool bayes = have_uncertainty(scores);
  if (regression) return fmt::format("{:>9.4g} {:>9.4f}", *scores.rmse, bayes ? scores.nll_bayes : scores.nll);
  return fmt::format("{:>8.2f}% {:>9.4f}", 100 * (bayes ? *scores.accuracy_bayes : *scores.accuracy),
                     bayes ? scores.nll_bayes : scores.nll);
}

}  // namespace

std::string fit_json(const FitSummary& summary) {
  const FitData& data = summary.data;
  Json json;
  json["schema"] = 1;
  json["task"] = data.is_regression() ? "regression" : "classification";
  json["data"] = data.name;
  std::vector<std::string> targets;
  for (const TargetEncoding& target : data.encoding.targets) targets.push_back(target.name);
  json["targets"] = targets;
  json["examples"] = data.training.size();
  json["test_examples"] = data.test ? data.test->size() : 0;
  json["features"] = data.features();
  if (data.images) {
    json["input_shape"] = data.input_shape();
  } else {
    json["feature_names"] = feature_names(data.encoding);
  }
  json["classes"] = data.encoding.classes.size();
  if (!data.is_regression()) json["class_names"] = data.encoding.classes;
  json["selected"] = summary.results.candidates.front().network;
  json["run"] = summary.run;
  json["complete"] = summary.end == TrainingsEnd::complete && summary.results.in_time;
  json["candidates"] = Json::array();
  for (const CandidateResult& result : summary.results.candidates)
    json["candidates"].push_back(candidate_json(summary, result));
  const std::optional<double> rho = evidence_accuracy_correlation(summary.results);
  if (rho) json["spearman_evidence_accuracy"] = *rho;
  if (summary.baseline) json["baseline"] = baseline_json(*summary.baseline);
  json["warnings"] = summary.results.warnings;
  json["messages"] = summary.messages;
  json["settings"] = Json::object();
  for (const auto& [flag, value] : fit_settings(summary.plan.flags)) json["settings"][flag] = value;
  json["versions"] = {{"ockham", OCKHAM_VERSION}, {"libtorch", TORCH_VERSION}};
  json["seconds"] = summary.seconds;
  return json.dump(1) + "\n";
}

std::string fit_table(const FitSummary& summary) {
  const bool color = use_color(summary.plan.flags.common.color, 1);
  const char *bold = color ? "\033[1m" : "", *plain = color ? "\033[0m" : "";
  const bool regression = summary.data.is_regression(), tested = summary.data.test.has_value();
  const std::string split = tested ? "test" : "train";
  const bool estimated = summary.plan.flags.log_det.estimated();
  const auto error_bar = [&](const std::string& text) { return estimated ? fmt::format(" {:>9}", text) : ""; };
  std::string text =
      fmt::format("{}  {:<22} {:>10} {:>14}{} {:>8} {:>7} {:>9} {:>9} {:>9}{}\n", bold, "network", "parameters",
                  "log evidence", error_bar("± 95 %"), "±", "P(M|D)", regression ? "noise" : "epochs",
                  split + (regression ? " rmse" : " acc"), split + " nll", plain);
  for (const CandidateResult& result : summary.results.candidates) {
    if (!result.has_evidence) {
      text += fmt::format("  {:<22} {:>10} {}\n", result.network, result.parameters, result.failure);
      continue;
    }
    const std::string spread = result.log_evidences.size() > 1 ? fmt::format("{:.2f}", result.ranked.spread) : "";
    const std::string third =
        regression ? fmt::format("{:.4g}", result.noise.front()) : fmt::format("{}", result.epochs);
    const std::string half_width =
        result.log_det_error ? fmt::format("{:.2f}", evidence_half_width(result.log_det_error)) : "";
    text += fmt::format("{}{} {:<22} {:>10} {:>14.2f}{} {:>8} {:>7.3f} {:>9} {}{}\n",
                        &result == &summary.results.candidates.front() ? bold : "",
                        &result == &summary.results.candidates.front() ? "*" : " ", result.network, result.parameters,
                        result.ranked.mean, error_bar(half_width), spread, result.ranked.probability, third,
                        metric(result, regression), &result == &summary.results.candidates.front() ? plain : "");
  }
  if (estimated) text += slq_words(summary.plan.flags.log_det) + "\n";
  if (summary.plan.flags.minibatch.chosen())
    text += summary.plan.is_bound() ? fmt::format("log evidence is a lower bound, from batches of at most {}\n",
                                                  counted(*summary.plan.flags.minibatch.batch, "example"))
                                    : "log evidence is that of the full structure: one batch has all examples\n";
  const PredictiveScores& first = shown_scores(summary.results.candidates.front());
  if (!have_uncertainty(first))
    text += fmt::format(
        "{} numbers are of the network alone; run.json has those with the uncertainty of its weights{}\n", split,
        first.linearised_examples > 0 ? fmt::format(", of {} of the examples", first.linearised_examples) : "");
  if (summary.baseline) {
    const FitBaseline& baseline = *summary.baseline;
    const PredictiveScores& scores = baseline.test ? *baseline.test : baseline.train;
    text += fmt::format("grid search by validation: {}, prior precision {:.3g}, {} nll {:.4f}; {}, {}\n",
                        baseline.network, baseline.prior_precision, split, scores.nll,
                        counted(baseline.search.trainings, "training"), duration(baseline.search.seconds));
  }
  for (const std::string& warning : summary.results.warnings) text += fmt::format("warning: {}\n", warning);
  if (summary.end == TrainingsEnd::time_limit)
    text +=
        fmt::format("--time-limit ended trainings early; 'ockham fit --resume --out {}' continues them\n", summary.run);
  text += fmt::format("{}selected {}{} in {}\nreport:  {}/report.html\npredict: ockham predict {} {}\n", bold,
                      summary.results.candidates.front().network, plain, duration(summary.seconds), summary.run,
                      summary.run, summary.data.images ? "DIR" : "NEW.csv");
  return text;
}

}  // namespace ockham::app
