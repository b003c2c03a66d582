// Every golden case × structure × prior through the library: values, gradients and predictives.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ockham/evidence/evidence.h"
#include "ockham/predict/linearised.h"
#include "tests/support/finite_differences.h"
#include "tests/support/golden.h"

namespace ockham {
namespace {

using testing::GoldenCase;
using testing::GoldenResult;
using testing::relative_mismatch;

constexpr double tolerance = 1e-9;

LaplaceFit fit_case(const GoldenCase& golden, const Network& network, const GoldenResult& result, int64_t batch_size) {
  LaplaceOptions options;
  options.curvature = result.curvature;
  options.curvature.batch_size = batch_size;
  options.curvature.root_derivatives = root_hyperparameter_count(golden.likelihood, golden.outputs.size(1)) > 0;
  options.likelihood_weight = golden.likelihood_weight;
  return fit_laplace(
      {network, golden.likelihood, testing::make_prior(result.prior, network.layout()), golden.hyperparameters(result)},
      golden.data(), options);
}

void expect_evidence(const Evidence& actual, const GoldenResult& expected) {
  EXPECT_LT(relative_mismatch(actual.log_likelihood, expected.log_likelihood), tolerance) << "log likelihood";
  EXPECT_LT(relative_mismatch(actual.log_prior, expected.log_prior), tolerance) << "log prior";
  EXPECT_LT(relative_mismatch(actual.log_det, expected.log_det), tolerance) << "log determinant";
  EXPECT_LT(relative_mismatch(actual.value, expected.log_marginal_likelihood), tolerance) << "log marginal likelihood";
  EXPECT_LT(relative_mismatch(actual.gradient.log_prior_precision, expected.gradient_log_prior_precision), tolerance)
      << "gradient in the prior precision";
  if (expected.gradient_log_noise) {
    EXPECT_LT(relative_mismatch(actual.gradient.log_noise, at::tensor({*expected.gradient_log_noise}, at::kDouble)),
              tolerance)
        << "gradient in the noise";
  }
  if (expected.gradient_log_temperature) {
    EXPECT_LT(relative_mismatch(actual.gradient.log_temperature,
                                at::tensor({*expected.gradient_log_temperature}, at::kDouble)),
              tolerance)
        << "gradient in the temperature";
  }
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, ValuesGradientsAndPredictives) {
  const GoldenCase golden = testing::read_golden(GetParam());
  const Network network = testing::make_golden_network(golden);
  for (const auto& result : golden.results) {
    SCOPED_TRACE(golden.name + " " + result.label());
    const LaplaceFit fit = fit_case(golden, network, result, /*batch_size=*/7);
    const Hyperparameters values = golden.hyperparameters(result);
    expect_evidence(evidence(fit, values), result);

    const FunctionPredictive function = predict_function(network, fit, values, golden.test_inputs, /*batch_size=*/3);
    EXPECT_LT(relative_mismatch(function.mean, result.f_mean), tolerance) << "predictive mean";
    EXPECT_LT(relative_mismatch(function.covariance, result.f_var), tolerance) << "predictive covariance";
    if (result.pred_var.defined()) {
      EXPECT_LT(relative_mismatch(predict_regression(function, values).total, result.pred_var), tolerance);
    }
    if (result.probit.defined()) {
      EXPECT_LT(relative_mismatch(predict_probit(function), result.probit), tolerance);
    }
  }
}

TEST_P(Golden, OneBatchAndBothDenseFormsGiveTheSame) {
  const GoldenCase golden = testing::read_golden(GetParam());
  const Network network = testing::make_golden_network(golden);
  for (auto result : golden.results) {
    if (result.prior == "diagonal") continue;
    SCOPED_TRACE(golden.name + " " + result.label());
    expect_evidence(evidence(fit_case(golden, network, result, 1000), golden.hyperparameters(result)), result);
    if (result.curvature.structure != Structure::full) continue;
    for (const auto form : {CurvatureOptions::DenseForm::matrix, CurvatureOptions::DenseForm::rows}) {
      result.curvature.dense_form = form;
      expect_evidence(evidence(fit_case(golden, network, result, 8), golden.hyperparameters(result)), result);
    }
  }
}

/// There is no golden entry for the block structure: it is the full matrix with everything between the groups left out.
TEST_P(Golden, BlockIsFullRestrictedToItsGroups) {
  const GoldenCase golden = testing::read_golden(GetParam());
  const Network network = testing::make_golden_network(golden);
  const auto& layout = network.layout();
  std::vector<int64_t> sizes;
  for (const auto& slot : layout.slots()) sizes.push_back(slot.size);
  std::vector<std::vector<size_t>> pairs;
  for (size_t i = 0; i < layout.count(); i += 2)
    pairs.push_back(i + 1 < layout.count() ? std::vector<size_t>{i, i + 1} : std::vector<size_t>{i});
  for (const auto& blocks : {std::vector<std::vector<size_t>>{}, pairs}) {
    for (auto result : golden.results) {
      if (result.curvature.structure != Structure::full || result.prior != "layerwise") continue;
      SCOPED_TRACE(golden.name + " " + result.label());
      at::Tensor mask = at::zeros({layout.total(), layout.total()}, at::kDouble);
      const auto together = blocks.empty() ? [&] {
        std::vector<std::vector<size_t>> single;
        for (size_t i = 0; i < layout.count(); ++i) single.push_back({i});
        return single;
      }() : blocks;
      for (const auto& block : together) {
        for (const size_t i : block) {
          for (const size_t j : block) {
            mask.narrow(0, layout[i].offset, layout[i].size).narrow(1, layout[j].offset, layout[j].size).fill_(1);
          }
        }
      }
      const LaplaceFit full = fit_case(golden, network, result, 7);
      result.curvature.structure = Structure::block;
      result.curvature.blocks = blocks;
      const LaplaceFit block = fit_case(golden, network, result, 7);
      const at::Tensor expected = dense(full.curvature.curvature(), sizes) * mask;
      EXPECT_LT(relative_mismatch(dense(block.curvature.curvature(), sizes), expected), tolerance);

      const Hyperparameters values = golden.hyperparameters(result);
      const at::Tensor precision = block.prior.expand(values.log_prior_precision.exp());
      const double scale = golden.likelihood_weight * curvature_scale(golden.likelihood, result.curvature.kind, values);
      const double log_det = at::logdet(expected * scale + at::diag(precision)).item<double>();
      EXPECT_LT(relative_mismatch(evidence(block, values).log_det, log_det), tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, ::testing::ValuesIn(testing::golden_names()),
                         [](const auto& info) { return info.param; });

/// At the mode of a linear-Gaussian model the full Laplace evidence is the exact one.
TEST(GoldenLinear, LaplaceIsExactAtTheMode) {
  const auto file = testing::read_golden_json("linreg_exact_evidence");
  const at::Tensor theta = testing::tensor_of(file.at("theta_map"));
  const at::Tensor weight = theta.narrow(0, 0, 4).reshape({1, 4}).clone().set_requires_grad(true);
  const at::Tensor bias = theta.narrow(0, 4, 1).clone().set_requires_grad(true);
  const Network network({{"weight", weight}, {"bias", bias}},
                        [=](const at::Tensor& x) { return at::linear(x, weight, bias); });
  const Dataset data(testing::tensor_of(file.at("X")).reshape({30, 4}), testing::tensor_of(file.at("y")));
  Hyperparameters values = default_likelihood_hyperparameters(Gaussian{}, 1);
  values.log_prior_precision = testing::tensor_of(file.at("prior_prec_layerwise")).log();
  values.log_noise.fill_(std::log(file.at("sigma").get<double>()));
  for (const auto form : {CurvatureOptions::DenseForm::matrix, CurvatureOptions::DenseForm::rows}) {
    LaplaceOptions options;
    options.curvature.structure = Structure::full;
    options.curvature.dense_form = form;
    options.curvature.likelihood_gradient = true;
    const LaplaceFit fit =
        fit_laplace({network, Gaussian{}, Prior::layerwise(network.layout()), values}, data, options);
    const Evidence result = evidence(fit, values);
    EXPECT_LT(relative_mismatch(result.value, file.at("log_evidence_exact").get<double>()), 1e-10);
    EXPECT_LT(std::abs(evidence(fit, values, {true}).correction), 1e-10);
    // The file's gradients are finite differences of the exact evidence.
    EXPECT_LT(relative_mismatch(result.gradient.log_noise[0].item<double>(),
                                file.at("grad_fd").at("log_sigma").get<double>()),
              1e-6);
    EXPECT_LT(relative_mismatch(result.gradient.log_prior_precision,
                                testing::tensor_of(file.at("grad_fd").at("log_prior_prec"))),
              1e-6);
  }
}

}  // namespace
}  // namespace ockham
