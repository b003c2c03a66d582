#include "app/fit_trace.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ockham::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostPrecisionColumns = 64;

std::vector<double> values_of(const at::Tensor& log_values, const at::Tensor& scale) {
  if (log_values.numel() == 0) return {};
  const at::Tensor values = (log_values.exp() * scale).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

std::vector<std::string> group_names(const FitPlan& plan, size_t candidate) {
  return plan.candidates[candidate].make(0).prior.names();
}

}  // namespace

std::string trace_csv(const FitPlan& plan, const FitData& data, const std::vector<CandidateTraining>& trainings) {
  // Networks have different groups: a column for each name that any of them has.
  std::vector<std::vector<std::string>> groups;
  std::vector<std::string> columns;
  for (size_t candidate = 0; candidate < plan.candidates.size(); ++candidate) {
    groups.push_back(group_names(plan, candidate));
    for (const std::string& name : groups.back())
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  }
  if (columns.size() > kMostPrecisionColumns) columns.clear();

  const at::Tensor scales = target_scales(data.encoding), one = at::ones({1}, at::kDouble);
  std::string text = "network,restart,epoch,loss,log_marginal_likelihood";
  for (const TargetEncoding& target : data.encoding.targets)
    if (data.is_regression())
      text += data.encoding.targets.size() == 1 ? ",noise" : fmt::format(",\"noise_{}\"", target.name);
  if (!data.is_regression()) text += ",temperature";
  text += ",prior_precision";  // the geometric mean
  for (const std::string& name : columns) text += fmt::format(",prior_precision.{}", name);
  text += '\n';
  for (const CandidateTraining& training : trainings) {
    const std::vector<std::string>& mine = groups[training.candidate];
    for (const OnlinePass& pass : training.result.state.passes) {
      const std::string& network = plan.candidates[training.candidate].network;
      text += fmt::format("\"{}\",{},{},{},{}", network, training.restart + 1, pass.epoch, pass.loss,
                          log_density_in_target_units(data.encoding, pass.log_evidence, data.training.size()));
      const Hyperparameters& values = pass.hyperparameters;
      for (const double noise : values_of(values.log_noise, scales)) text += fmt::format(",{}", noise);
      for (const double temperature : values_of(values.log_temperature, one)) text += fmt::format(",{}", temperature);
      text += fmt::format(",{}", std::exp(values.log_prior_precision.mean().item<double>()));
      const std::vector<double> precisions = values_of(values.log_prior_precision, one);
      for (const std::string& name : columns) {
        const auto found = std::find(mine.begin(), mine.end(), name);
        text += found == mine.end() ? std::string(",") : fmt::format(",{}", precisions[found - mine.begin()]);
      }
      text += '\n';
    }
  }
  return text;
}

MetricsLog::MetricsLog(const FitPlan& plan, const FitData& data, const RunDirectory& run)
    : plan_(plan), data_(data), run_(run) {
  if (run_.has(RunFile::metrics)) run_.keep_metrics(0);
}

void MetricsLog::add(size_t candidate, size_t restart, const std::vector<OnlinePass>& passes) {
  size_t& written = written_[{candidate, restart}];
  for (; written < passes.size(); ++written) {
    const OnlinePass& pass = passes[written];
    Json line;
    line["network"] = plan_.candidates[candidate].network;
    line["restart"] = restart + 1;
    line["epoch"] = pass.epoch;
    line["loss"] = pass.loss;
    line["log_marginal_likelihood"] =
        log_density_in_target_units(data_.encoding, pass.log_evidence, data_.training.size());
    const auto noise = values_of(pass.hyperparameters.log_noise, target_scales(data_.encoding));
    if (noise.size() == 1) line["noise"] = noise[0];
    if (noise.size() > 1) line["noise"] = noise;
    line["prior_precision"] = std::exp(pass.hyperparameters.log_prior_precision.mean().item<double>());
    run_.append_metrics(line.dump());
  }
}

}  // namespace ockham::app
