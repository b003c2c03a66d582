#include "experiments/mean_field.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham::paper {
namespace {

/// A linear model with correlated inputs.
Dataset linear_data(int64_t rows) {
  auto generator = random_stream({11});
  const at::Tensor base = at::randn({rows, 3}, generator, at::kDouble);
  const at::Tensor mix = at::tensor({1.0, 0.6, 0.0, 0.0, 0.8, 0.3, 0.0, 0.0, 1.2}, at::kDouble).view({3, 3});
  const at::Tensor inputs = base.matmul(mix);
  const at::Tensor weights = at::tensor({0.7, -1.1, 0.4}, at::kDouble).view({3, 1});
  return {inputs, inputs.matmul(weights) + 0.3 + 0.5 * at::randn({rows, 1}, generator, at::kDouble)};
}

/// With known noise and prior the best factorised Gaussian has the exact posterior's mean and, for each weight, the
/// variance given all others: 1/Λ_ii with Λ = XᵀX/σ² + δ, X with a column of ones.
TEST(MeanField, IsTheDiagonalPosteriorOfALinearModel) {
  const Dataset data = linear_data(40);
  MeanFieldOptions options;
  options.hidden = {};
  options.learn_prior = options.learn_noise = false;
  options.prior_precision = 2;
  options.noise = 0.5;
  options.epochs = 6000;
  options.learning_rate = 0.02;
  const MeanField fit = fit_mean_field(data, Gaussian{}, 1, options);

  const at::Tensor features = at::cat({data.inputs(), at::ones({40, 1}, at::kDouble)}, 1);
  const at::Tensor precision = features.t().matmul(features) / 0.25 + 2 * at::eye(4, at::kDouble);
  const at::Tensor mean = at::linalg_solve(precision, features.t().matmul(data.targets()) / 0.25).view({4});
  const at::Tensor deviation = precision.diagonal().rsqrt();

  ASSERT_EQ(fit.layers.size(), 1u);
  const at::Tensor means = at::cat({fit.layers[0].weight_mean.view({3}), fit.layers[0].bias_mean});
  const at::Tensor deviations = at::cat({fit.layers[0].weight_deviation.view({3}), fit.layers[0].bias_deviation});
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(means[i].item<double>(), mean[i].item<double>(), 0.1 * deviation[i].item<double>()) << i;
    EXPECT_NEAR(deviations[i].item<double>() / deviation[i].item<double>(), 1, 0.03) << i;
  }
  EXPECT_EQ(fit.precisions, (std::vector<double>{2, 2}));
  EXPECT_NEAR(fit.noise, 0.5, 1e-12);

  // The bound there is log p(D) - KL(q ‖ posterior) = log p(D) - ½ (Σ log Λ_ii - log|Λ|).
  const auto log_det = [](const at::Tensor& matrix) { return at::logdet(matrix).item<double>(); };
  const at::Tensor covariance = 0.25 * at::eye(40, at::kDouble) + features.matmul(features.t()) / 2;
  const double squares = data.targets().t().matmul(at::linalg_solve(covariance, data.targets())).item<double>();
  const double evidence = -0.5 * (squares + log_det(covariance) + 40 * std::log(2 * M_PI));
  const double divergence = 0.5 * (precision.diagonal().log().sum().item<double>() - log_det(precision));
  EXPECT_NEAR(fit.curve.back(), (evidence - divergence) / 40, 0.02);
}

/// The noise and the precision that are learnt are those at which the bound's derivatives vanish:
/// σ² = E_q (1/N) Σ (y - f)², δ = count / Σ (m² + s²).
TEST(MeanField, LearnsNoiseAndPriorToTheirFixedPoints) {
  const Dataset data = linear_data(60);
  MeanFieldOptions options;
  options.hidden = {};
  options.epochs = 6000;
  options.learning_rate = 0.02;
  const MeanField fit = fit_mean_field(data, Gaussian{}, 1, options);
  const MeanFieldLayer& layer = fit.layers[0];
  const at::Tensor mean = data.inputs().matmul(layer.weight_mean.t()) + layer.bias_mean;
  const at::Tensor variance =
      data.inputs().square().matmul(layer.weight_deviation.square().t()) + layer.bias_deviation.square();
  const double noise = std::sqrt(((data.targets() - mean).square() + variance).mean().item<double>());
  EXPECT_NEAR(fit.noise / noise, 1, 0.02);
  const double precision = 3 / (layer.weight_mean.square() + layer.weight_deviation.square()).sum().item<double>();
  EXPECT_NEAR(fit.precisions[0] / precision, 1, 0.02);
  EXPECT_NEAR(fit.last_change, 0, 0.01);
}

TEST(MeanField, SeparatesClasses) {
  auto generator = random_stream({5});
  const at::Tensor inputs = at::randn({150, 2}, generator, at::kDouble);
  const at::Tensor targets = (inputs.select(1, 0) * inputs.select(1, 1) > 0).to(at::kLong);
  MeanFieldOptions options;
  options.hidden = {20};
  options.epochs = 1500;
  const MeanField fit = fit_mean_field({inputs, targets}, Categorical{}, 2, options);
  const at::Tensor probabilities = mean_field_probabilities(fit, inputs, 100, 1);
  EXPECT_LT((probabilities.sum(1) - 1).abs().max().item<double>(), 1e-9);
  EXPECT_GT(probabilities.argmax(1).eq(targets).to(at::kDouble).mean().item<double>(), 0.9);
  EXPECT_GT(fit.curve.back(), fit.curve.front());
  EXPECT_EQ(fit.curve_epochs.back(), 1500);
  const MeanField again = fit_mean_field({inputs, targets}, Categorical{}, 2, options);
  EXPECT_TRUE(again.layers[1].weight_mean.equal(fit.layers[1].weight_mean)) << "the same seed, the same numbers";
}

TEST(MeanField, EndsWhenAsked) {
  MeanFieldOptions options;
  options.epochs = 1000;
  int64_t calls = 0;
  const MeanField fit = fit_mean_field(linear_data(10), Gaussian{}, 1, options, [&](double) { return ++calls < 5; });
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(fit.curve_epochs.back(), 5);
  testing::expect_error(ErrorKind::usage, {"Gaussian"},
                        [&] { fit_mean_field(linear_data(10), Poisson{}, 1, options); });
}

}  // namespace
}  // namespace ockham::paper
