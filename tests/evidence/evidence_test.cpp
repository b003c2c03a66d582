// Gradients of the evidence against finite differences: structure × kind × likelihood × prior, with and without the
// correction.
#include "ockham/evidence/evidence.h"

#include <gtest/gtest.h>

#include "tests/evidence/small_problem.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::finite_difference_gradient;
using testing::relative_difference;
using testing::small_problems;
using testing::SmallProblem;

constexpr double kTolerance = 1e-7;

LaplaceOptions options_for(Structure structure, CurvatureKind kind) {
  LaplaceOptions options;
  options.curvature.structure = structure;
  options.curvature.kind = kind;
  options.curvature.mc_samples = 2;
  options.curvature.batch_size = 4;
  options.curvature.root_derivatives = true;
  options.curvature.likelihood_gradient = true;
  options.curvature.verify = false;  // many refits of the same network
  options.likelihood_weight = 1.7;
  return options;
}

/// `refit`: the evidence at other temperatures is that of a new pass, so the gradient must be the exact one.
void expect_gradients(const SmallProblem& problem, const Prior& prior, const LaplaceOptions& options, bool correction,
                      bool refit) {
  const Hyperparameters here = problem.at(prior);
  const EvidenceOptions evidence_options{correction};
  const auto fit_at = [&](const Hyperparameters& values) {
    return fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options);
  };
  const LaplaceFit fit = fit_at(here);
  const Evidence result = evidence(fit, here, evidence_options);
  const auto along = [&](at::Tensor Hyperparameters::*which, bool again) {
    return [&, which, again](const at::Tensor& value) {
      Hyperparameters moved = here.clone();
      moved.*which = value;
      return evidence(again ? fit_at(moved) : fit, moved, evidence_options).value;
    };
  };
  const auto numeric = [&](at::Tensor Hyperparameters::*which, bool again) {
    return finite_difference_gradient(along(which, again), here.*which);
  };
  EXPECT_LT(
      relative_difference(result.gradient.log_prior_precision, numeric(&Hyperparameters::log_prior_precision, false)),
      kTolerance);
  const bool roots = root_hyperparameter_count(problem.likelihood, 2) > 0;
  EXPECT_LT(relative_difference(result.gradient.log_noise, numeric(&Hyperparameters::log_noise, roots && refit)),
            kTolerance);
  EXPECT_LT(
      relative_difference(result.gradient.log_temperature, numeric(&Hyperparameters::log_temperature, roots && refit)),
      kTolerance);
}

TEST(Evidence, GradientsOfEveryStructureLikelihoodAndPrior) {
  for (const SmallProblem& problem : small_problems()) {
    const ParameterLayout& layout = problem.network.layout();
    for (Structure structure : {Structure::full, Structure::block, Structure::kronecker, Structure::diagonal}) {
      for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
        for (const Prior& prior : {Prior::scalar(layout), Prior::layerwise(layout), Prior::ard(layout)}) {
          for (bool correction : {true, false}) {
            if (!correction && prior.kind() != PriorKind::layerwise) continue;
            SCOPED_TRACE(problem.name + ", structure " + std::to_string(static_cast<int>(structure)) + ", kind " +
                         std::to_string(static_cast<int>(kind)) + ", groups " + std::to_string(prior.size()) +
                         (correction ? ", corrected" : ""));
            expect_gradients(problem, prior, options_for(structure, kind), correction, true);
          }
        }
      }
    }
  }
}

TEST(Evidence, GradientsUnderADiagonalPrior) {
  for (const SmallProblem& problem : small_problems()) {
    for (Structure structure : {Structure::full, Structure::block, Structure::diagonal}) {
      SCOPED_TRACE(problem.name + ", structure " + std::to_string(static_cast<int>(structure)));
      expect_gradients(problem, Prior::diagonal(problem.network.layout()), options_for(structure, CurvatureKind::ggn),
                       true, true);
    }
  }
}

TEST(Evidence, GradientsUnderNamedGroups) {
  for (const SmallProblem& problem : small_problems()) {
    const Prior prior = Prior::grouped(problem.network.layout(), {{"ends", {"hidden.weight", "output.bias"}},
                                                                  {"middle", {"hidden.bias", "output.weight"}}});
    for (Structure structure : {Structure::full, Structure::block, Structure::kronecker, Structure::diagonal}) {
      SCOPED_TRACE(problem.name + ", structure " + std::to_string(static_cast<int>(structure)));
      expect_gradients(problem, prior, options_for(structure, CurvatureKind::ggn), true, true);
    }
  }
}

// Where nothing but the prior and a scale of the noise moves, so that the sampled targets stay what they are.
TEST(Evidence, GradientsOfTheMonteCarloFisher) {
  for (const SmallProblem& problem : small_problems()) {
    if (root_hyperparameter_count(problem.likelihood, 2) > 0) continue;
    for (Structure structure : {Structure::full, Structure::block, Structure::kronecker, Structure::diagonal}) {
      SCOPED_TRACE(problem.name + ", structure " + std::to_string(static_cast<int>(structure)));
      expect_gradients(problem, Prior::layerwise(problem.network.layout()),
                       options_for(structure, CurvatureKind::mc_fisher), true, false);
    }
  }
}

TEST(Evidence, GradientsOfTheDampedKroneckerStructure) {
  for (const SmallProblem& problem : small_problems()) {
    SCOPED_TRACE(problem.name);
    LaplaceOptions options = options_for(Structure::kronecker, CurvatureKind::ggn);
    options.damping = true;
    expect_gradients(problem, Prior::layerwise(problem.network.layout()), options, false, true);
    expect_gradients(problem, Prior::scalar(problem.network.layout()), options, true, true);
  }
}

TEST(Evidence, TermsAddUp) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::layerwise(problem.network.layout());
  const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, problem.at(prior)}, problem.data,
                                     options_for(Structure::full, CurvatureKind::ggn));
  const Evidence result = evidence(fit, problem.at(prior), {true});
  const double weights = static_cast<double>(problem.network.layout().total());
  EXPECT_NEAR(result.value,
              result.log_likelihood + result.log_prior + 0.5 * weights * std::log(2 * M_PI) - 0.5 * result.log_det +
                  result.correction,
              1e-10);
  EXPECT_GT(result.correction, 0);
  EXPECT_EQ(evidence(fit, problem.at(prior)).correction, 0);
}

TEST(Evidence, WithoutRootDerivativesTheGradientIsEmptyAndMovingIsRefused) {
  const SmallProblem problem = small_problems()[2];
  const Prior prior = Prior::scalar(problem.network.layout());
  LaplaceOptions options = options_for(Structure::kronecker, CurvatureKind::ggn);
  options.curvature.root_derivatives = false;
  options.curvature.likelihood_gradient = false;
  Hyperparameters values = problem.at(prior);
  const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options);
  EXPECT_EQ(evidence(fit, values).gradient.log_temperature.numel(), 0);
  testing::expect_error(ErrorKind::usage, {"likelihood_gradient"}, [&] { evidence(fit, values, {true}); });
  values.log_temperature = values.log_temperature + 0.1;
  testing::expect_error(ErrorKind::usage, {"temperature"}, [&] { evidence(fit, values); });
}

TEST(Evidence, KeptJacobiansMakeOtherTemperaturesExact) {
  for (const SmallProblem& problem : small_problems()) {
    if (root_hyperparameter_count(problem.likelihood, 2) == 0) continue;
    for (Structure structure : {Structure::full, Structure::block}) {
      for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
        SCOPED_TRACE(problem.name + ", kind " + std::to_string(static_cast<int>(kind)));
        const Prior prior = Prior::layerwise(problem.network.layout());
        const LaplaceOptions options = options_for(structure, kind);
        const Hyperparameters here = problem.at(prior);
        Hyperparameters there = here.clone();
        there.log_noise = there.log_noise + 0.6;
        there.log_temperature = there.log_temperature - 0.6;
        const auto fit_at = [&](const Hyperparameters& values) {
          return fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options);
        };
        const Evidence moved = evidence(fit_at(here), there, {true});
        const Evidence fitted = evidence(fit_at(there), there, {true});
        EXPECT_LT(relative_difference(moved.value, fitted.value), 1e-11);
        EXPECT_LT(relative_difference(moved.gradient.log_prior_precision, fitted.gradient.log_prior_precision), 1e-9);
        EXPECT_LT(relative_difference(moved.gradient.log_noise, fitted.gradient.log_noise), 1e-9);
        EXPECT_LT(relative_difference(moved.gradient.log_temperature, fitted.gradient.log_temperature), 1e-9);
      }
    }
  }
}

TEST(Evidence, AwayFromThePassValueAndGradientBelongTogether) {
  for (const SmallProblem& problem : small_problems()) {
    if (root_hyperparameter_count(problem.likelihood, 2) == 0) continue;
    for (Structure structure : {Structure::kronecker, Structure::diagonal}) {
      SCOPED_TRACE(problem.name);
      const Prior prior = Prior::layerwise(problem.network.layout());
      const Hyperparameters here = problem.at(prior);
      const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, here}, problem.data,
                                         options_for(structure, CurvatureKind::ggn));
      const at::Tensor shift = at::full_like(root_hyperparameters(problem.likelihood, here), 0.3);
      const bool noise = here.log_noise.numel() > 0;
      const auto moved = [&](const at::Tensor& by) {
        Hyperparameters values = here.clone();
        (noise ? values.log_noise : values.log_temperature) += by;
        return evidence(fit, values, {true});
      };
      const auto value = [&](const at::Tensor& by) { return moved(by).value; };
      const Hyperparameters gradient = moved(shift).gradient;
      EXPECT_LT(relative_difference(noise ? gradient.log_noise : gradient.log_temperature,
                                    finite_difference_gradient(value, shift)),
                kTolerance);
    }
  }
}

}  // namespace
}  // namespace ockham
