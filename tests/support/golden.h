// The golden cases of tests/golden: fixed networks and data with results of independent implementations.
#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ockham/curvature/estimate_curvature.h"
#include "ockham/data/dataset.h"
#include "ockham/network/network.h"
#include "ockham/probability/likelihood.h"
#include "ockham/probability/prior.h"

namespace ockham::testing {

/// What one structure gives under one prior: the `brute` entry (with `ef_paper` where there are two).
struct GoldenResult {
  std::string structure;  // the file's own word, e.g. "kfac-ggn"
  std::string variant;    // e.g. "conv_expand"
  std::string prior;      // scalar | layerwise | diagonal
  CurvatureOptions curvature;
  at::Tensor log_prior_precision;  // [G]
  double log_likelihood = 0, log_prior = 0, log_det = 0, log_marginal_likelihood = 0;
  at::Tensor gradient_log_prior_precision;  // [G]
  std::optional<double> gradient_log_noise, gradient_log_temperature;
  at::Tensor f_mean, f_var;     // [n, C], [n, C, C]
  at::Tensor pred_var, probit;  // [n, C, C] or [n, C]; the other is undefined
  std::string label() const { return structure + "/" + variant + "/" + prior; }
};

struct GoldenCase {
  std::string name;
  std::string network_in_words;
  Likelihood likelihood;
  double noise = 1, temperature = 1, likelihood_weight = 1;
  std::vector<std::pair<std::string, at::Tensor>> parameters;  // in order, float64, with gradients
  at::Tensor inputs, targets, test_inputs, outputs;            // outputs: f_train, raw
  std::vector<GoldenResult> results;

  Dataset data() const { return {inputs, targets}; }
  /// Noise or temperature of the case, with the result's precisions.
  Hyperparameters hyperparameters(const GoldenResult& result) const;
};

/// Names of the case files, sorted; not the trajectories nor the exact linear evidence.
std::vector<std::string> golden_names();
nlohmann::json read_golden_json(const std::string& name);
GoldenCase read_golden(const std::string& name);
Prior make_prior(const std::string& kind, const ParameterLayout& layout);
/// Nested arrays of numbers to a tensor of their shape.
at::Tensor tensor_of(const nlohmann::json& numbers);

/// The case's network of plain operators on `parameters`.
Network make_golden_network(const GoldenCase& golden);
/// The same as a TorchScript file.
void save_golden_torchscript(const GoldenCase& golden, const std::string& path);

}  // namespace ockham::testing
