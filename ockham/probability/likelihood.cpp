#include "ockham/probability/likelihood.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/probability/each_likelihood.h"

namespace ockham {
namespace {

struct NameOf {
  std::string operator()(const Gaussian&) const { return "gaussian"; }
  std::string operator()(const Categorical&) const { return "categorical"; }
  std::string operator()(const Bernoulli&) const { return "bernoulli"; }
  std::string operator()(const Poisson&) const { return "poisson"; }
};

/// How many log σ and log T a likelihood has.
struct CountsOf {
  struct Counts {
    int64_t noise, temperature;
  };
  int64_t outputs;
  Counts operator()(const Gaussian& gaussian) const { return {gaussian.noise_per_output ? outputs : 1, 0}; }
  Counts operator()(const Categorical&) const { return {0, 1}; }
  Counts operator()(const Bernoulli&) const { return {0, 1}; }
  Counts operator()(const Poisson&) const { return {0, 0}; }
};

/// K of the exact root.
struct RankOf {
  int64_t outputs;
  int64_t operator()(const Gaussian&) const { return outputs; }
  int64_t operator()(const Categorical&) const { return outputs - 1; }
  int64_t operator()(const Bernoulli&) const { return 1; }
  int64_t operator()(const Poisson&) const { return outputs; }
};

bool noise_is_scale(const Likelihood& likelihood) {
  const Gaussian* gaussian = std::get_if<Gaussian>(&likelihood);
  return gaussian != nullptr && !gaussian->noise_per_output;
}

double log_scale_noise(const Likelihood& likelihood, const Hyperparameters& hyperparameters) {
  return each::log_noise_of(std::get<Gaussian>(likelihood), hyperparameters, 1).item<double>();
}

void require_samples(const RootOptions& options) {
  if (options.kind != CurvatureKind::mc_fisher || options.mc_samples >= 1) return;
  throw Error(ErrorKind::usage,
              fmt::format("The Monte-Carlo Fisher needs at least 1 sample, but mc_samples is {}.", options.mc_samples));
}

}  // namespace

std::string name_of(const Likelihood& likelihood) { return std::visit(NameOf{}, likelihood); }

Hyperparameters default_likelihood_hyperparameters(const Likelihood& likelihood, int64_t outputs) {
  const auto counts = std::visit(CountsOf{outputs}, likelihood);
  return {at::Tensor(), at::zeros({counts.noise}, at::kDouble), at::zeros({counts.temperature}, at::kDouble)};
}

double log_likelihood(const Likelihood& likelihood, const at::Tensor& outputs, const at::Tensor& targets,
                      const Hyperparameters& hyperparameters) {
  const at::Tensor doubles = outputs.detach().to(at::kDouble);
  return std::visit([&](const auto& one) { return each::data_term(one, doubles, targets, hyperparameters).value; },
                    likelihood);
}

at::Tensor output_gradient(const Likelihood& likelihood, const at::Tensor& outputs, const at::Tensor& targets,
                           const Hyperparameters& hyperparameters) {
  return std::visit([&](const auto& one) { return each::gradient(one, outputs.detach(), targets, hyperparameters); },
                    likelihood);
}

std::vector<at::Tensor> output_gradient_derivatives(const Likelihood& likelihood, const at::Tensor& outputs,
                                                    const at::Tensor& targets, const Hyperparameters& hyperparameters) {
  return std::visit(
      [&](const auto& one) { return each::gradient_derivatives(one, outputs.detach(), targets, hyperparameters); },
      likelihood);
}

double gradient_scale(const Likelihood& likelihood, const Hyperparameters& hyperparameters) {
  return noise_is_scale(likelihood) ? std::exp(-2 * log_scale_noise(likelihood, hyperparameters)) : 1;
}

double curvature_scale(const Likelihood& likelihood, CurvatureKind kind, const Hyperparameters& hyperparameters) {
  if (!noise_is_scale(likelihood)) return 1;
  return std::exp(curvature_scale_exponent(likelihood, kind) * log_scale_noise(likelihood, hyperparameters));
}

double curvature_scale_exponent(const Likelihood& likelihood, CurvatureKind kind) {
  if (!noise_is_scale(likelihood)) return 0;
  return kind == CurvatureKind::empirical_fisher ? -4 : -2;
}

int64_t root_hyperparameter_count(const Likelihood& likelihood, int64_t outputs) {
  const auto counts = std::visit(CountsOf{outputs}, likelihood);
  return counts.temperature + (noise_is_scale(likelihood) ? 0 : counts.noise);
}

at::Tensor root_hyperparameters(const Likelihood& likelihood, const Hyperparameters& hyperparameters) {
  const Gaussian* gaussian = std::get_if<Gaussian>(&likelihood);
  if (gaussian != nullptr && gaussian->noise_per_output) return hyperparameters.log_noise.reshape({-1}).clone();
  if (root_hyperparameter_count(likelihood, 1) == 0) return at::zeros({0}, at::kDouble);
  return hyperparameters.log_temperature.reshape({-1}).clone();
}

OutputRoot output_root(const Likelihood& likelihood, const at::Tensor& outputs, const at::Tensor& targets,
                       const Hyperparameters& hyperparameters, const RootOptions& options, at::Generator generator) {
  require_samples(options);
  const at::Tensor detached = outputs.detach();
  switch (options.kind) {
    case CurvatureKind::ggn:
      return std::visit(
          [&](const auto& one) { return each::exact_root(one, detached, hyperparameters, options.derivatives); },
          likelihood);
    case CurvatureKind::mc_fisher:
      return std::visit(
          [&](const auto& one) {
            return each::sampled_root(one, detached, hyperparameters, options, std::move(generator));
          },
          likelihood);
    case CurvatureKind::empirical_fisher: {
      OutputRoot result{output_gradient(likelihood, detached, targets, hyperparameters).unsqueeze(2), {}};
      if (options.derivatives) {
        for (const at::Tensor& derivative :
             output_gradient_derivatives(likelihood, detached, targets, hyperparameters)) {
          result.derivatives.push_back(derivative.unsqueeze(2));
        }
      }
      return result;
    }
  }
  throw Error(ErrorKind::failure, "Unknown kind of curvature.");
}

int64_t root_columns(const Likelihood& likelihood, int64_t outputs, const RootOptions& options) {
  require_samples(options);
  if (options.kind == CurvatureKind::empirical_fisher) return 1;
  if (options.kind == CurvatureKind::mc_fisher) return options.mc_samples;
  return std::visit(RankOf{outputs}, likelihood);
}

}  // namespace ockham
