#include "app/fit_report.h"

#include <ATen/ATen.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <cmath>
#include <ctime>

#include "app/fit_minibatch.h"
#include "app/fit_pictures.h"
#include "app/log_det_report.h"
#include "ockham/base/atomic_file.h"

namespace ockham::app {
namespace {

std::vector<double> to_vector(const at::Tensor& values) {
  const at::Tensor plain = values.to(at::kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

std::vector<ReportValue> metrics(const PredictiveScores& scores) {
  std::vector<ReportValue> values;
  const auto add = [&](const std::string& name, const std::optional<double>& value) {
    if (value && !std::isnan(*value)) values.push_back({name, *value});
  };
  // With uncertainties only some of many images are looked at.
  const bool fewer = scores.linearised_examples > 0 && scores.linearised_examples != scores.examples;
  const std::string of_some = fewer ? fmt::format("@{}", scores.linearised_examples) : "";
  add("rmse", scores.rmse);
  add("accuracy", scores.accuracy);
  add("nll", scores.nll);
  add("nll_bayes" + of_some, scores.nll_bayes);
  add("coverage95", scores.coverage95);
  add("ece", scores.ece);
  add("brier", scores.brier);
  add("accuracy_bayes" + of_some, scores.accuracy_bayes);
  add("ece_bayes" + of_some, scores.ece_bayes);
  add("brier_bayes" + of_some, scores.brier_bayes);
  return values;
}

ReportTrace trace_of(const FitSummary& summary, const CandidateResult& result) {
  ReportTrace trace;
  for (const auto& [name, precision] : result.prior_precision) trace.groups.push_back(name);
  constexpr size_t most_groups = 64;
  const bool with_groups = trace.groups.size() <= most_groups;
  if (!with_groups) trace.groups.clear();
  const at::Tensor scales = target_scales(summary.data.encoding);
  for (const OnlinePass& pass : result.passes) {
    ReportTraceRow row;
    row.epoch = pass.epoch;
    row.loss = pass.loss;
    row.log_evidence =
        log_density_in_target_units(summary.data.encoding, pass.log_evidence, summary.data.training.size());
    const Hyperparameters& values = pass.hyperparameters;
    if (values.log_noise.numel() > 0) row.noise = to_vector(values.log_noise.exp() * scales);
    if (summary.plan.flags.learn_temperature) row.temperature = values.log_temperature.exp()[0].item<double>();
    if (with_groups) row.precisions = to_vector(values.log_prior_precision.exp());
    trace.rows.push_back(std::move(row));
  }
  return trace;
}

ReportCandidate candidate_of(const FitSummary& summary, const CandidateResult& result) {
  ReportCandidate candidate;
  candidate.network = result.network;
  candidate.parameters = result.parameters;
  candidate.restarts = summary.plan.flags.restarts;
  candidate.seconds = result.seconds;
  candidate.failure = result.failure;
  if (!result.has_evidence) return candidate;
  candidate.log_evidence = result.ranked.mean;
  candidate.log_evidence_best = result.log_evidence;
  if (result.log_evidences.size() > 1) candidate.spread = result.ranked.spread;
  if (result.log_det_error) candidate.half_width = evidence_half_width(result.log_det_error);
  candidate.probability = result.ranked.probability;
  candidate.log_likelihood = result.log_likelihood;
  candidate.log_prior = result.log_prior;
  candidate.log_det = result.log_det;
  candidate.epochs = result.epochs;
  candidate.gradient_norm = result.gradient_norm;
  candidate.train = metrics(result.train);
  if (result.test) candidate.test = metrics(*result.test);
  candidate.trace = trace_of(summary, result);
  return candidate;
}

/// Precisions of the first layer's input columns, by the names of the inputs.
std::vector<ReportValue> relevances(const FitSummary& summary) {
  std::vector<ReportValue> values;
  const Model& model = summary.results.selected->model;
  const std::vector<std::string> names = feature_names(summary.data.encoding);
  for (size_t parameter = 0; parameter < model.prior.layout().count(); ++parameter) {
    const PriorSlot& slot = model.prior.slot(parameter);
    if (slot.pattern != PriorSlot::Pattern::per_input_column) continue;
    for (size_t i = 0; i < names.size(); ++i)
      values.push_back(
          {names[i],
           std::exp(model.hyperparameters.log_prior_precision[slot.first + static_cast<int64_t>(i)].item<double>())});
    break;
  }
  return values;
}

/// One per network; the test numbers are those of the best setting, trained again on all data.
std::vector<ReportBaseline> baselines_of(const FitBaseline& baseline) {
  std::vector<ReportBaseline> pictures(baseline.networks.size());
  for (const GridSetting& setting : baseline.search.settings) {
    ReportBaseline& picture = pictures[setting.candidate];
    picture.network = baseline.networks[setting.candidate];
    picture.score = "validation log likelihood per example";
    picture.rows.push_back({setting.precision, -setting.nll, setting.seconds});
    if (picture.network != baseline.network) continue;
    picture.chosen_precision = baseline.prior_precision;
    picture.seconds = baseline.search.seconds;
    if (baseline.test) picture.test = metrics(*baseline.test);
  }
  return pictures;
}

RunReport make_report(const FitSummary& summary) {
  const FitData& data = summary.data;
  RunReport report;
  report.data = data.name;
  report.task = data.is_regression() ? "regression" : "classification";
  if (data.images) report.task = "classification of images";
  if (!data.images)
    for (const TargetEncoding& target : data.encoding.targets)
      report.targets += (report.targets.empty() ? "" : ", ") + target.name;
  report.examples = data.training.size();
  report.test_examples = data.test ? data.test->size() : 0;
  report.features = data.features();
  report.run = summary.run;
  report.when = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
  report.seconds = summary.seconds;
  report.comparability = evidence_words(summary.plan);
  report.versions = {{"ockham", OCKHAM_VERSION}, {"libtorch", TORCH_VERSION}};
  for (const auto& [flag, value] : fit_settings(summary.plan.flags)) report.settings.push_back({flag, value});
  report.warnings = summary.results.warnings;
  report.messages = summary.messages;
  for (const CandidateResult& result : summary.results.candidates)
    report.candidates.push_back(candidate_of(summary, result));
  constexpr size_t most_precisions = 200;
  for (const auto& [name, precision] : summary.results.candidates.front().prior_precision)
    if (report.prior_precisions.size() < most_precisions) report.prior_precisions.push_back({name, precision});
  if (!data.images) report.relevances = relevances(summary);
  report.evidence_accuracy_rho = evidence_accuracy_correlation(summary.results).value_or(not_given);
  if (summary.baseline) report.baselines = baselines_of(*summary.baseline);
  add_pictures(summary.results, data, report);
  return report;
}

}  // namespace

void write_fit_report(const FitSummary& summary, const RunDirectory& run) {
  const RunReport report = thin_report(make_report(summary));
  write_atomically(report_data_path(run), format_report_data(report));
  run.write(RunFile::report, render_report(report));
}

std::string report_data_path(const RunDirectory& run) { return run.path() + "/report.json"; }

}  // namespace ockham::app
