#include "app/evidence_report.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/counted.h"
#include "app/log_det_report.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value, const char* what) {
  if (!std::isfinite(value))
    throw Error(ErrorKind::numerical, fmt::format("{} is {}: the computation broke down", what, value));
  return value;
}

/// Nested arrays of the tensor's shape.
Json array(const at::Tensor& tensor, const char* what) {
  if (tensor.dim() == 0) return number(tensor.item<double>(), what);
  Json rows = Json::array();
  if (tensor.dim() == 1) {
    const at::Tensor values = tensor.to(at::kDouble).contiguous();
    for (int64_t i = 0; i < values.size(0); ++i) rows.push_back(number(values.data_ptr<double>()[i], what));
    return rows;
  }
  for (int64_t i = 0; i < tensor.size(0); ++i) rows.push_back(array(tensor[i], what));
  return rows;
}

/// A hyperparameter that may be absent, single, or one per output.
Json one_or_many(const at::Tensor& values, bool many, const char* what) {
  if (!values.defined() || values.numel() == 0) return nullptr;
  return many ? array(values, what) : number(values[0].item<double>(), what);
}

Json check_json(const SelfCheck& check) {
  if (!check.not_checked.empty()) return {{"name", check.name}, {"not_checked", check.not_checked}};
  return {{"name", check.name},
          {"compared", check.compared},
          {"difference", check.difference},
          {"allowed", check.allowed},
          {"holds", check.holds()}};
}

std::string check_line(const SelfCheck& check) {
  if (!check.not_checked.empty()) return fmt::format("  {:<15} not checked: {}\n", check.name, check.not_checked);
  return fmt::format("  {:<15} {}: {:.3g} ({}, at most {:.3g})\n", check.name, check.holds() ? "holds" : "DIFFERS",
                     check.difference, check.compared, check.allowed);
}

bool all_hold(const std::vector<SelfCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const SelfCheck& check) { return check.holds(); });
}

}  // namespace

void add_clipped(const LaplaceFit& fit, EvidenceReport& report, Messages& messages) {
  report.clipped = clipped_spectrum(fit);
  const std::string sentence = describe_clipped(report.clipped);
  if (!sentence.empty()) messages.add(sentence);
}

std::string evidence_json(const EvidenceReport& report, const EvidenceFlags& flags) {
  const Evidence& evidence = report.evidence;
  Json json;
  json["schema"] = 1;
  json["log_marginal_likelihood"] = number(evidence.value, "the log marginal likelihood");
  json["log_marginal_likelihood_per_example"] = evidence.value / static_cast<double>(report.examples);
  json["log_likelihood"] = number(evidence.log_likelihood, "the log likelihood");
  json["log_prior"] = number(evidence.log_prior, "the log prior");
  json["log_det"] = number(evidence.log_det, "log|H|");
  if (evidence.log_det_error) json["log_det_error"] = log_det_error_json(*evidence.log_det_error, report.log_det);
  if (flags.correction) json["correction"] = number(evidence.correction, "the correction");
  json["examples"] = report.examples;
  json["outputs"] = report.outputs;
  json["parameters"] = report.parameters;
  json["gradient"] = {
      {"log_prior_precision", array(evidence.gradient.log_prior_precision, "the gradient in the prior precision")},
      {"log_noise", one_or_many(evidence.gradient.log_noise, flags.noise.size() > 1, "the gradient in the noise")},
      {"log_temperature", one_or_many(evidence.gradient.log_temperature, false, "the gradient in the temperature")}};
  json["groups"] = report.groups;
  if (report.batches > 0) {
    json["evidence"] = "minibatch";
    json["lower_bound"] = report.is_bound();
    json["batches"] = report.batches;
    json["largest_batch"] = report.largest_batch;
    json["shared_examples"] = report.shared;
  }
  json["structure"] = word_of(flags.structure);
  json["curvature"] = word_of(flags.curvature);
  json["likelihood"] = report.likelihood;
  json["likelihood_weight"] = flags.likelihood_weight;
  json["prior"] = word_of(flags.prior);
  const Hyperparameters& values = report.hyperparameters;
  json["hyperparameters"] = {{"prior_precision", array(values.log_prior_precision.exp(), "the prior precision")},
                             {"noise", one_or_many(values.log_noise.exp(), flags.noise.size() > 1, "the noise")},
                             {"temperature", one_or_many(values.log_temperature.exp(), false, "the temperature")}};
  json["dtype"] = flags.common.dtype == FloatType::float64 ? "float64" : "float32";
  json["clipped_eigenvalues"] = report.clipped.clipped;
  json["eigenvalues"] = report.clipped.eigenvalues;
  json["messages"] = report.messages;
  if (!report.checks.empty()) {
    json["checks"] = Json::array();
    for (const SelfCheck& check : report.checks) json["checks"].push_back(check_json(check));
    json["checks_hold"] = all_hold(report.checks);
  }
  if (report.predictive) {
    const EvidencePredictive& predictive = *report.predictive;
    json["predictive"] = {{"f_mean", array(predictive.f_mean, "the predictive mean")},
                          {"f_var", array(predictive.f_var, "the predictive covariance")}};
    if (predictive.pred_var.defined())
      json["predictive"]["pred_var"] = array(predictive.pred_var, "the predictive variance");
    if (predictive.probit.defined())
      json["predictive"]["probit"] = array(predictive.probit, "the probit probabilities");
  }
  json["seconds"] = report.seconds;
  json["seconds_curvature"] = report.seconds_curvature;
  json["seconds_decompose"] = report.seconds_decompose;
  return json.dump() + "\n";
}

std::string evidence_table(const EvidenceReport& report, const EvidenceFlags& flags) {
  const bool color = use_color(flags.common.color, 1);
  const Evidence& evidence = report.evidence;
  const char *bold = color ? "\033[1m" : "", *plain = color ? "\033[0m" : "";
  std::string text;
  const auto row = [&](const std::string& name, const std::string& value) {
    text += fmt::format("  {:<28}{:>18}\n", name, value);
  };
  const auto term = [&](const char* name, double value) {
    row(name, fmt::format("{:.6f}", number(value, name).get<double>()));
  };

  text += fmt::format("{}log marginal likelihood {:>23.6f}{}\n", bold,
                      number(evidence.value, "the evidence").get<double>(), plain);
  if (report.is_bound())
    text += fmt::format("  a lower bound, from {} of at most {}, {} of them shared\n", counted(report.batches, "batch"),
                        counted(report.largest_batch, "example"), report.shared);
  else if (report.batches == 1)
    text += "  the evidence itself: one batch has all examples\n";
  term("per example", evidence.value / static_cast<double>(report.examples));
  term("log likelihood", evidence.log_likelihood);
  term("log prior", evidence.log_prior);
  term(report.is_bound() ? "log determinant, at most" : "log determinant", evidence.log_det);
  if (evidence.log_det_error) text += log_det_error_line(*evidence.log_det_error, report.log_det);
  if (flags.correction) term("correction", evidence.correction);

  text += fmt::format("{}gradient in log hyperparameters{}\n", bold, plain);
  const at::Tensor by_group = evidence.gradient.log_prior_precision;
  constexpr int64_t most = 30;
  for (int64_t i = 0; i < std::min(most, by_group.numel()); ++i) {
    term(("precision of " + report.groups[i]).c_str(), by_group[i].item<double>());
  }
  if (by_group.numel() > most)
    text += fmt::format("  ... and {} more precisions (all with --json)\n", by_group.numel() - most);
  const at::Tensor noise = evidence.gradient.log_noise, temperature = evidence.gradient.log_temperature;
  for (int64_t i = 0; noise.defined() && i < noise.numel(); ++i) {
    term(noise.numel() == 1 ? "noise" : fmt::format("noise of output {}", i).c_str(), noise[i].item<double>());
  }
  if (temperature.defined() && temperature.numel() > 0) term("temperature", temperature[0].item<double>());

  text += fmt::format("{}{} {}{}: {}, {}, {}, {:.2f} s\n", bold, word_of(flags.structure), word_of(flags.curvature),
                      plain, counted(report.examples, "example"), counted(report.outputs, "output"),
                      counted(report.parameters, "parameter"), report.seconds);
  if (report.clipped.clipped > 0)
    text += fmt::format("  {} of {} eigenvalues were negative and set to zero\n", report.clipped.clipped,
                        report.clipped.eigenvalues);
  if (report.predictive) text += "  predictions are printed with --json\n";
  if (!report.checks.empty()) {
    text += fmt::format("{}checks: {}{}\n", bold, all_hold(report.checks) ? "all hold" : "not all hold", plain);
    for (const SelfCheck& check : report.checks) text += check_line(check);
  }
  return text;
}

}  // namespace ockham::app
