#include "tests/support/golden.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ockham::testing {
namespace {

using nlohmann::json;

at::Tensor shaped(const json& file, const std::string& key) {
  const auto shape = file.at(key + "_shape").get<std::vector<int64_t>>();
  return tensor_of(file.at(key)).reshape(shape);
}

CurvatureOptions options_of(const std::string& structure, const std::string& variant) {
  const std::map<std::string, Structure> structures = {
      {"full", Structure::full}, {"kfac", Structure::kronecker}, {"diag", Structure::diagonal}};
  CurvatureOptions options;
  const auto dash = structure.find('-');
  options.structure = structures.at(structure.substr(0, dash));
  options.kind = structure.substr(dash + 1) == "ef" ? CurvatureKind::empirical_fisher : CurvatureKind::ggn;
  if (variant.find("conv_backpack") == 0) options.kronecker_rule = KroneckerRule::paper;
  if (variant.find("conv_reduce") == 0) options.kronecker_rule = KroneckerRule::reduce;
  return options;
}

GoldenResult result_of(const json& entry) {
  GoldenResult result;
  result.log_likelihood = entry.at("log_lik");
  result.log_prior = entry.at("log_prior");
  result.log_det = entry.at("logdet_H");
  result.log_marginal_likelihood = entry.at("log_marglik");
  result.gradient_log_prior_precision = tensor_of(entry.at("grad_log_prior_prec"));
  if (entry.contains("grad_log_sigma")) result.gradient_log_noise = entry.at("grad_log_sigma").get<double>();
  if (entry.contains("grad_log_T")) result.gradient_log_temperature = entry.at("grad_log_T").get<double>();
  const json& predictive = entry.at("predictive");
  result.f_mean = tensor_of(predictive.at("f_mean"));
  result.f_var = tensor_of(predictive.at("f_var"));
  if (predictive.contains("pred_var")) result.pred_var = tensor_of(predictive.at("pred_var"));
  if (predictive.contains("probit")) result.probit = tensor_of(predictive.at("probit"));
  return result;
}

std::vector<GoldenResult> results_of(const json& file) {
  std::vector<GoldenResult> results;
  for (const auto& [structure, by_prior] : file.at("results").items()) {
    for (const auto& [prior, sources] : by_prior.items()) {
      for (const auto& [variant, entry] : sources.at("brute").items()) {
        if (variant.find("ef_peer") != std::string::npos) continue;
        GoldenResult result = result_of(entry);
        result.structure = structure;
        result.variant = variant;
        result.prior = prior;
        result.curvature = options_of(structure, variant);
        result.log_prior_precision = tensor_of(file.at("log_prior_prec").at(prior));
        results.push_back(std::move(result));
      }
    }
  }
  return results;
}

}  // namespace

at::Tensor tensor_of(const json& numbers) {
  std::vector<int64_t> shape;
  for (const json* level = &numbers; level->is_array(); level = &level->at(0)) {
    shape.push_back(static_cast<int64_t>(level->size()));
    if (level->empty()) break;
  }
  std::vector<double> flat;
  const std::function<void(const json&)> collect = [&](const json& value) {
    if (!value.is_array()) return flat.push_back(value.get<double>());
    for (const auto& item : value) collect(item);
  };
  collect(numbers);
  return at::tensor(flat, at::kDouble).reshape(shape);
}

Hyperparameters GoldenCase::hyperparameters(const GoldenResult& result) const {
  Hyperparameters values = default_likelihood_hyperparameters(likelihood, outputs.size(1));
  values.log_prior_precision = result.log_prior_precision.clone();
  if (values.log_noise.numel() > 0) values.log_noise.fill_(std::log(noise));
  if (values.log_temperature.numel() > 0) values.log_temperature.fill_(std::log(temperature));
  return values;
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(OCKHAM_GOLDEN_DIR)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".json" || name.rfind("traj_", 0) == 0 || name == "linreg_exact_evidence") continue;
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

json read_golden_json(const std::string& name) {
  const std::string path = std::string(OCKHAM_GOLDEN_DIR) + "/" + name + ".json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return json::parse(file);
}

GoldenCase read_golden(const std::string& name) {
  const json file = read_golden_json(name);
  GoldenCase golden;
  golden.name = name;
  golden.network_in_words = file.at("network");
  const bool gaussian = file.at("likelihood") == "gaussian";
  if (!gaussian) golden.likelihood = Categorical{};
  if (gaussian) golden.noise = file.at("sigma");
  golden.temperature = file.at("softmax_temperature_T");
  golden.likelihood_weight = 1 / file.at("likelihood_power_temperature").get<double>();
  golden.inputs = shaped(file, "X");
  golden.targets = shaped(file, "y");
  if (!gaussian) golden.targets = golden.targets.to(at::kLong);
  golden.test_inputs = shaped(file, "X_test");
  golden.outputs = tensor_of(file.at("f_train"));
  const at::Tensor theta = tensor_of(file.at("theta"));
  int64_t offset = 0;
  for (const auto& entry : file.at("param_order")) {
    const auto shape = entry.at("shape").get<std::vector<int64_t>>();
    int64_t size = 1;
    for (const int64_t extent : shape) size *= extent;
    at::Tensor value = theta.narrow(0, offset, size).reshape(shape).clone();
    golden.parameters.emplace_back(entry.at("name"), value.set_requires_grad(true));
    offset += size;
  }
  golden.results = results_of(file);
  return golden;
}

Prior make_prior(const std::string& kind, const ParameterLayout& layout) {
  if (kind == "scalar") return Prior::scalar(layout);
  if (kind == "layerwise") return Prior::layerwise(layout);
  if (kind == "diagonal") return Prior::diagonal(layout);
  throw std::runtime_error("unknown prior " + kind);
}

}  // namespace ockham::testing
