#include "ockham/evidence/self_check.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/network/architectures.h"

namespace ockham {
namespace {

constexpr int64_t kExamples = 40, kInputs = 3, kClasses = 3;

struct Problem {
  SelfCheckInput input;
  LaplaceFit fit;
  Evidence known;
};

Model model_of(at::ScalarType type, const Likelihood& likelihood, int64_t outputs) {
  const Network network = make_architecture("mlp:4,act=tanh", {kInputs}, outputs, type, 1);
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters hyperparameters = default_likelihood_hyperparameters(likelihood, outputs);
  hyperparameters.log_prior_precision = at::linspace(-1, 1, prior.size(), at::kDouble);
  return {network, likelihood, prior, hyperparameters};
}

Problem problem_of(const Likelihood& likelihood, Structure structure, at::ScalarType type = at::kDouble) {
  const bool classes = std::holds_alternative<Categorical>(likelihood);
  const int64_t outputs = classes ? kClasses : 1;
  const at::Tensor inputs = at::randn({kExamples, kInputs}, random_stream({2}), at::kDouble);
  const at::Tensor targets = classes ? at::randint(0, kClasses, {kExamples}, random_stream({3}), at::kLong)
                                     : inputs.sin().sum(1, /*keepdim=*/true);
  const auto data_in = [&](at::ScalarType t) { return Dataset(inputs.to(t), classes ? targets : targets.to(t)); };
  const at::ScalarType other = type == at::kDouble ? at::kFloat : at::kDouble;
  LaplaceOptions options;
  options.curvature.structure = structure;
  options.curvature.root_derivatives = root_hyperparameter_count(likelihood, outputs) > 0;
  SelfCheckInput input{model_of(type, likelihood, outputs), data_in(type), options,
                       model_of(other, likelihood, outputs), data_in(other)};
  // The same weights in both: a draw in another type is another draw.
  input.other_model->network.set_flat_parameters(input.model.network.flat_parameters());
  LaplaceFit fit = fit_laplace(input.model, input.data, options);
  const Evidence known = evidence(fit, input.model.hyperparameters);
  return {input, fit, known};
}

const SelfCheck& named(const std::vector<SelfCheck>& checks, const std::string& name) {
  for (const SelfCheck& check : checks)
    if (check.name == name) return check;
  throw std::logic_error("no check is called " + name);
}

TEST(SelfCheck, SecondWaysAgree) {
  for (const Likelihood& likelihood : {Likelihood(Gaussian{}), Likelihood(Categorical{})}) {
    for (const Structure structure : {Structure::full, Structure::kronecker, Structure::diagonal}) {
      for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
        const Problem problem = problem_of(likelihood, structure, type);
        for (const SelfCheck& check : check_evidence(problem.input, problem.fit, problem.known)) {
          SCOPED_TRACE(name_of(likelihood) + " " + check.name);
          if (check.name == "mode") continue;
          EXPECT_TRUE(check.holds()) << check.difference << " of " << check.allowed;
          EXPECT_EQ(check.not_checked.empty(), check.name != "other space" || structure == Structure::full)
              << check.not_checked;
        }
      }
    }
  }
}

TEST(SelfCheck, AWrongValueIsNoticed) {
  Problem problem = problem_of(Gaussian{}, Structure::full);
  problem.known.value += 0.05;
  const auto checks = check_evidence(problem.input, problem.fit, problem.known);
  for (const char* name : {"floating type", "batch order", "other space"})
    EXPECT_FALSE(named(checks, name).holds()) << name;
  EXPECT_TRUE(named(checks, "gradient").holds());
}

TEST(SelfCheck, AWrongGradientIsNoticed) {
  for (at::Tensor Hyperparameters::*part : {&Hyperparameters::log_prior_precision, &Hyperparameters::log_noise}) {
    for (const at::ScalarType type : {at::kDouble, at::kFloat}) {  // differences of a fit are in float64 in both
      Problem problem = problem_of(Gaussian{}, Structure::kronecker, type);
      (problem.known.gradient.*part) = problem.known.gradient.*part * 1.001 + 0.002;
      const auto checks = check_evidence(problem.input, problem.fit, problem.known);
      EXPECT_FALSE(named(checks, "gradient").holds());
      EXPECT_TRUE(named(checks, "batch order").holds());
    }
  }
}

TEST(SelfCheck, WeightsThatWereNeverTrainedAreNoMode) {
  const Problem problem = problem_of(Categorical{}, Structure::full);
  EXPECT_FALSE(named(check_evidence(problem.input, problem.fit, problem.known), "mode").holds());
}

TEST(SelfCheck, WhatIsRandomIsNotComparedWithAnotherDraw) {
  Problem problem = problem_of(Categorical{}, Structure::kronecker);
  problem.input.options.curvature.kind = CurvatureKind::mc_fisher;
  problem.fit = fit_laplace(problem.input.model, problem.input.data, problem.input.options);
  problem.known = evidence(problem.fit, problem.input.model.hyperparameters);
  const auto checks = check_evidence(problem.input, problem.fit, problem.known);
  EXPECT_FALSE(named(checks, "batch order").not_checked.empty());
  EXPECT_TRUE(named(checks, "gradient").holds());
}

}  // namespace
}  // namespace ockham
