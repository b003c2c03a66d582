// Linear-Gaussian models, where the Laplace evidence is the exact one, and inequalities that hold for every network.
#include <gtest/gtest.h>

#include "ockham/evidence/evidence.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::linear_network;
using testing::relative_difference;
using testing::seeded;
using DenseForm = CurvatureOptions::DenseForm;

double gaussian_log_density(const at::Tensor& y, const at::Tensor& covariance) {
  const double quadratic = at::dot(y, at::linalg_solve(covariance, y)).item<double>();
  const double log_det = std::get<1>(at::linalg_slogdet(covariance)).item<double>();
  return -0.5 * (quadratic + log_det + static_cast<double>(y.numel()) * std::log(2 * M_PI));
}

struct LinearModel {
  at::Tensor inputs, targets;
  double log_precision, log_noise;
  double precision() const { return std::exp(log_precision); }
  double variance() const { return std::exp(2 * log_noise); }
  at::Tensor map() const {
    const at::Tensor gram = inputs.t().mm(inputs) / variance();
    return at::linalg_solve(gram + precision() * at::eye(inputs.size(1), at::kDouble),
                            inputs.t().mv(targets) / variance());
  }
  double exact_evidence() const {
    return gaussian_log_density(
        targets, inputs.mm(inputs.t()) / precision() + variance() * at::eye(inputs.size(0), at::kDouble));
  }
  Hyperparameters hyperparameters() const {
    return {at::full({1}, log_precision, at::kDouble), at::full({1}, log_noise, at::kDouble),
            at::zeros({0}, at::kDouble)};
  }
};

LaplaceFit fit_linear(const LinearModel& model, const at::Tensor& theta, DenseForm form, bool gradient = false) {
  const Network network = linear_network(theta.unsqueeze(0));
  LaplaceOptions options;
  options.curvature.structure = Structure::full;
  options.curvature.dense_form = form;
  options.curvature.likelihood_gradient = gradient;
  return fit_laplace({network, Gaussian{}, Prior::scalar(network.layout()), model.hyperparameters()},
                     {model.inputs, model.targets}, options);
}

TEST(KnownTruths, BayesianLinearRegressionIsExactInBothSpaces) {
  for (int64_t weights : {4, 30}) {
    const LinearModel model{seeded({12, weights}, 1), seeded({12}, 2), 0.3, -0.5};
    for (DenseForm form : {DenseForm::matrix, DenseForm::rows}) {
      const LaplaceFit fit = fit_linear(model, model.map(), form);
      EXPECT_NEAR(evidence(fit, model.hyperparameters()).value, model.exact_evidence(), 1e-10);
    }
  }
}

// The evidence of a linear model does not depend on θ once the correction is included: H is exact everywhere.
TEST(KnownTruths, TheCorrectionMakesAnyPointOfALinearModelExact) {
  const LinearModel model{seeded({12, 6}, 1), seeded({12}, 2), 0.3, -0.5};
  for (DenseForm form : {DenseForm::matrix, DenseForm::rows}) {
    const LaplaceFit fit = fit_linear(model, seeded({6}, 3), form, true);
    const Evidence result = evidence(fit, model.hyperparameters(), {true});
    EXPECT_NEAR(result.value, model.exact_evidence(), 1e-9);
    EXPECT_LT(result.value - result.correction, model.exact_evidence());
  }
}

// A network linearised at θ₀ is a Gaussian process: y - f(θ₀) + J θ₀ ~ N(0, J P⁻¹ Jᵀ + σ² I).
TEST(KnownTruths, TheCorrectedEvidenceIsThatOfTheLinearisedGaussianProcess) {
  for (const testing::SmallProblem& problem : testing::small_problems()) {
    if (!std::holds_alternative<Gaussian>(problem.likelihood)) continue;
    SCOPED_TRACE(problem.name);
    const Prior prior = Prior::layerwise(problem.network.layout());
    const Hyperparameters values = problem.at(prior);
    LaplaceOptions options;
    options.curvature.structure = Structure::full;
    options.curvature.likelihood_gradient = true;
    const at::Tensor theta = problem.network.flat_parameters();
    const at::Tensor outputs = problem.network.forward(problem.data.inputs());
    std::vector<at::Tensor> rows;
    for (int64_t i = 0; i < outputs.numel(); ++i) {
      const auto output_at = [&](const at::Tensor& at) {
        problem.network.set_flat_parameters(at);
        return problem.network.forward(problem.data.inputs()).reshape(-1)[i].item<double>();
      };
      rows.push_back(testing::finite_difference_gradient(output_at, theta));
    }
    problem.network.set_flat_parameters(theta);
    const at::Tensor jacobian = at::stack(rows);
    const at::Tensor prior_variance = (-prior.expand(values.log_prior_precision)).exp();
    const at::Tensor noise = (2 * values.log_noise).exp().expand({outputs.size(1)}).repeat({outputs.size(0)});
    const at::Tensor covariance = (jacobian * prior_variance).mm(jacobian.t()) + at::diag(noise);
    const at::Tensor shifted = problem.data.targets().reshape(-1) - outputs.detach().reshape(-1) + jacobian.mv(theta);
    for (DenseForm form : {DenseForm::matrix, DenseForm::rows}) {
      options.curvature.dense_form = form;
      const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options);
      EXPECT_LT(relative_difference(evidence(fit, values, {true}).value, gaussian_log_density(shifted, covariance)),
                1e-8);
    }
  }
}

// At the optimum of a linear model: δ‖θ‖² = Σ λ/(λ+δ) and ‖r‖²/σ² = N - Σ λ/(λ+δ), λ the eigenvalues of XᵀX/σ².
TEST(KnownTruths, MacKaysFixedPoints) {
  const at::Tensor inputs = seeded({40, 5}, 1);
  LinearModel model{inputs, inputs.mv(seeded({5}, 2)) + 0.3 * seeded({40}, 3), 0.0, 0.0};
  for (int round = 0; round < 200; ++round) {
    const LaplaceFit fit = fit_linear(model, model.map(), DenseForm::matrix);
    const Evidence here = evidence(fit, model.hyperparameters());
    // Newton's method on each coordinate would be faster; plain ascent shows that the gradient vanishes where it
    // should.
    model.log_precision += 0.2 * here.gradient.log_prior_precision.item<double>();
    model.log_noise += 0.01 * here.gradient.log_noise.item<double>();
  }
  const at::Tensor theta = model.map();
  const at::Tensor eigenvalues = at::linalg_eigvalsh(inputs.t().mm(inputs)) / model.variance();
  const double effective = (eigenvalues / (eigenvalues + model.precision())).sum().item<double>();
  const double residual = (model.targets - inputs.mv(theta)).square().sum().item<double>() / model.variance();
  EXPECT_NEAR(model.precision() * theta.square().sum().item<double>(), effective, 1e-6);
  EXPECT_NEAR(residual, 40 - effective, 1e-6);
}

TEST(KnownTruths, FullIsAtLeastBlockIsAtLeastDiagonal) {
  for (const auto& problem : testing::small_problems()) {
    for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher, CurvatureKind::mc_fisher}) {
      SCOPED_TRACE(problem.name + ", kind " + std::to_string(static_cast<int>(kind)));
      const Prior prior = Prior::layerwise(problem.network.layout());
      const Hyperparameters values = problem.at(prior);
      const auto value = [&](Structure structure) {
        LaplaceOptions options;
        options.curvature.structure = structure;
        options.curvature.kind = kind;
        return evidence(fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options),
                        values)
            .value;
      };
      const double full = value(Structure::full), block = value(Structure::block),
                   diagonal = value(Structure::diagonal);
      EXPECT_GT(full, block);
      EXPECT_GT(block, diagonal);
    }
  }
}

// |sB + P_δ| = |P_δ| |I + s Φ P_δ⁻¹ Φᵀ|, for every likelihood, kind and prior, with the gradients and the correction.
TEST(KnownTruths, WeightSpaceEqualsFunctionSpace) {
  for (const auto& problem : testing::small_problems()) {
    const ParameterLayout& layout = problem.network.layout();
    for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
      for (const Prior& prior :
           {Prior::scalar(layout), Prior::layerwise(layout), Prior::ard(layout), Prior::diagonal(layout)}) {
        SCOPED_TRACE(problem.name + ", kind " + std::to_string(static_cast<int>(kind)) + ", groups " +
                     std::to_string(prior.size()));
        const Hyperparameters values = problem.at(prior);
        const auto in_form = [&](DenseForm form) {
          LaplaceOptions options;
          options.curvature.structure = Structure::full;
          options.curvature.kind = kind;
          options.curvature.dense_form = form;
          options.curvature.likelihood_gradient = true;
          options.curvature.root_derivatives = true;
          return evidence(fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options),
                          values, {true});
        };
        const Evidence weights = in_form(DenseForm::matrix), functions = in_form(DenseForm::rows);
        const Hyperparameters &expected = weights.gradient, &actual = functions.gradient;
        EXPECT_LT(relative_difference(functions.value, weights.value), 1e-10);
        EXPECT_LT(relative_difference(functions.log_det, weights.log_det), 1e-10);
        EXPECT_LT(relative_difference(actual.log_prior_precision, expected.log_prior_precision), 1e-10);
        EXPECT_LT(relative_difference(actual.log_noise, expected.log_noise), 1e-10);
        EXPECT_LT(relative_difference(actual.log_temperature, expected.log_temperature), 1e-10);
      }
    }
  }
}

// Several outputs, a bias with a precision of its own, one σ per output: outputs are independent regressions. At the
// mode the gradient is the exact evidence's too, because the joint density is stationary in θ and H does not depend on
// θ.
TEST(KnownTruths, RegressionWithSeveralOutputsAndNoisesIsExact) {
  const int64_t examples = 11, features = 3, outputs = 2;
  const at::Tensor inputs = seeded({examples, features}, 7), targets = seeded({examples, outputs}, 8);
  const at::Tensor design = at::cat({inputs, at::ones({examples, 1}, at::kDouble)}, 1);
  const Hyperparameters values{at::tensor({0.4, -0.7}, at::kDouble), at::tensor({-0.5, 0.2}, at::kDouble),
                               at::zeros({0}, at::kDouble)};
  const auto variances = [&](const at::Tensor& log_precision) {
    return at::cat({(-log_precision.narrow(0, 0, 1)).exp().repeat({features}), (-log_precision.narrow(0, 1, 1)).exp()});
  };
  const auto exact = [&](const at::Tensor& log_precision, const at::Tensor& log_noise) {
    double sum = 0;
    for (int64_t c = 0; c < outputs; ++c) {
      const at::Tensor noise = (2 * log_noise[c]).exp() * at::eye(examples, at::kDouble);
      sum += gaussian_log_density(targets.select(1, c), (design * variances(log_precision)).mm(design.t()) + noise);
    }
    return sum;
  };
  std::vector<at::Tensor> modes;
  for (int64_t c = 0; c < outputs; ++c) {
    const at::Tensor precision = (2 * values.log_noise[c]).exp() / variances(values.log_prior_precision);
    modes.push_back(at::linalg_solve(design.t().mm(design) + at::diag(precision), design.t().mv(targets.select(1, c))));
  }
  const at::Tensor mode = at::stack(modes);  // [C, features + 1]
  const at::Tensor weight = mode.narrow(1, 0, features).clone().set_requires_grad(true);
  const at::Tensor bias = mode.select(1, features).clone().set_requires_grad(true);
  const Network network({{"weight", weight}, {"bias", bias}},
                        [=](const at::Tensor& x) { return at::linear(x, weight, bias); });
  for (DenseForm form : {DenseForm::matrix, DenseForm::rows}) {
    LaplaceOptions options;
    options.curvature.structure = Structure::full;
    options.curvature.dense_form = form;
    options.curvature.root_derivatives = true;
    const Evidence result = evidence(
        fit_laplace({network, Gaussian{true}, Prior::layerwise(network.layout()), values}, {inputs, targets}, options),
        values);
    EXPECT_NEAR(result.value, exact(values.log_prior_precision, values.log_noise), 1e-10);
    const at::Tensor by_precision = testing::finite_difference_gradient(
        [&](const at::Tensor& moved) { return exact(moved, values.log_noise); }, values.log_prior_precision);
    const at::Tensor by_noise = testing::finite_difference_gradient(
        [&](const at::Tensor& moved) { return exact(values.log_prior_precision, moved); }, values.log_noise);
    EXPECT_LT(relative_difference(result.gradient.log_prior_precision, by_precision), 1e-8);
    EXPECT_LT(relative_difference(result.gradient.log_noise, by_noise), 1e-8);
  }
}

// Λ is the same for every example, so Σ_n Λ ⊗ x xᵀ is a Kronecker product, also under one precision per input column.
TEST(KnownTruths, TheKroneckerBlockOfOneLinearGaussianLayerIsExact) {
  const Network network = linear_network(seeded({2, 5}, 4));
  const Dataset data(seeded({9, 5}, 5), seeded({9, 2}, 6));
  for (const Prior& prior : {Prior::scalar(network.layout()), Prior::ard(network.layout())}) {
    for (bool noise_per_output : {false, true}) {
      SCOPED_TRACE(std::to_string(prior.size()) + " precisions" + (noise_per_output ? ", one noise per output" : ""));
      const Hyperparameters values{0.5 * seeded({prior.size()}, 9), 0.3 * seeded({noise_per_output ? 2 : 1}, 10),
                                   at::zeros({0}, at::kDouble)};
      const auto with = [&](Structure structure) {
        LaplaceOptions options;
        options.curvature.structure = structure;
        options.curvature.root_derivatives = true;
        return evidence(fit_laplace({network, Gaussian{noise_per_output}, prior, values}, data, options), values);
      };
      const Evidence actual = with(Structure::kronecker), expected = with(Structure::full);
      const auto gradient = [](const Evidence& of) {
        return at::cat({of.gradient.log_prior_precision, of.gradient.log_noise});
      };
      EXPECT_NEAR(actual.value, expected.value, 1e-10);
      EXPECT_LT(relative_difference(gradient(actual), gradient(expected)), 1e-10);
    }
  }
}

}  // namespace
}  // namespace ockham
