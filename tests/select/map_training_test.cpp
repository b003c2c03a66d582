#include "ockham/select/map_training.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/network/architectures.h"

namespace ockham {
namespace {

Model linear_model(double precision, Likelihood likelihood = Gaussian{}) {
  const Network network = make_architecture("linear", {3}, 1, at::kDouble, 0);
  const Prior prior = Prior::scalar(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(likelihood, 1);
  start.log_prior_precision = at::full({1}, std::log(precision), at::kDouble);
  return {network, likelihood, prior, start};
}

Dataset noisy_plane(double noise) {
  auto stream = random_stream({7});
  const at::Tensor x = at::randn({60, 3}, stream, at::kDouble);
  const at::Tensor slope = at::tensor({1.0, -2.0, 0.5}, at::kDouble);
  return Dataset(x, (x.mv(slope) + noise * at::randn({60}, stream, at::kDouble) + 0.3).unsqueeze(1));
}

MapTrainingOptions quick_options() {
  MapTrainingOptions options;
  options.epochs = 4000;
  options.optimiser.learning_rate = 0.03;
  options.optimiser.schedule = LearningRateSchedule::cosine;
  return options;
}

TEST(TrainMap, ReachesRidgeRegressionWithItsOwnNoise) {
  const Dataset data = noisy_plane(0.4);
  const Model model = linear_model(5);
  const MapTraining training = train_map(model, data, quick_options());
  ASSERT_TRUE(training.failure.empty());
  // The fixed point in closed form: ridge regression at λ = δ σ², σ² the mean square of its residuals.
  const at::Tensor design = at::cat({data.inputs(), at::ones({60, 1}, at::kDouble)}, 1);
  double variance = 1;
  at::Tensor weights;
  for (int i = 0; i < 200; ++i) {
    const at::Tensor matrix = design.t().mm(design) + 5 * variance * at::eye(4, at::kDouble);
    weights = at::linalg_solve(matrix, design.t().mm(data.targets()));
    variance = (design.mm(weights) - data.targets()).square().mean().item<double>();
  }
  EXPECT_NEAR(std::exp(training.hyperparameters.log_noise.item<double>()), std::sqrt(variance), 1e-5);
  EXPECT_LT((model.network.flat_parameters() - weights.squeeze(1)).abs().max().item<double>(), 1e-4);
  EXPECT_EQ(model.hyperparameters.log_noise.item<double>(), 0) << "the caller's values are not written to";
}

TEST(TrainMap, KeepsTheNoiseWhenAsked) {
  MapTrainingOptions options = quick_options();
  options.epochs = 20;
  options.noise_interval = 0;
  EXPECT_EQ(train_map(linear_model(1), noisy_plane(0.4), options).hyperparameters.log_noise.item<double>(), 0);
}

TEST(TrainMap, NoiseHasAFloorWhereTheNetworkInterpolates) {
  const Dataset data = noisy_plane(0);
  const MapTraining training = train_map(linear_model(1e-8), data, quick_options());
  const double deviation = data.targets().std(false).item<double>();
  EXPECT_NEAR(std::exp(training.hyperparameters.log_noise.item<double>()), 1e-3 * deviation, 1e-4 * deviation);
}

TEST(TrainMap, FitsOneNoisePerOutput) {
  Gaussian gaussian;
  gaussian.noise_per_output = true;
  const Network network = make_architecture("linear", {1}, 2, at::kDouble, 0);
  const Prior prior = Prior::scalar(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(gaussian, 2);
  start.log_prior_precision = at::zeros({1}, at::kDouble);
  network.set_flat_parameters(at::zeros({network.layout().total()}, at::kDouble));
  const Model model{network, gaussian, prior, start};
  const Dataset data(at::ones({2, 1}, at::kDouble), at::tensor({3.0, 0.0, 4.0, 2.0}, at::kDouble).view({2, 2}));
  const at::Tensor fitted = fit_noise(model, prepare_data(model, data), 1e-3).log_noise.exp();
  EXPECT_NEAR(fitted[0].item<double>(), std::sqrt(12.5), 1e-12);
  EXPECT_NEAR(fitted[1].item<double>(), std::sqrt(2.0), 1e-12);
}

TEST(TrainMap, NllIsTheGaussianDensity) {
  Model model = linear_model(1);
  model.network.set_flat_parameters(at::zeros({4}, at::kDouble));
  model.hyperparameters.log_noise.fill_(std::log(2.0));
  const Dataset data(at::ones({2, 3}, at::kDouble), at::tensor({1.0, -3.0}, at::kDouble));
  const double expected = 0.5 * std::log(2 * M_PI * 4) + (1.0 + 9.0) / 2 / (2 * 4);
  EXPECT_NEAR(map_nll(model, prepare_data(model, data)), expected, 1e-12);
}

TEST(TrainMap, DivergenceAndInterruptionAreData) {
  MapTrainingOptions options = quick_options();
  options.optimiser.kind = OptimiserKind::sgd;
  options.optimiser.learning_rate = 1e12;
  EXPECT_NE(train_map(linear_model(1), noisy_plane(1), options).failure.find("epoch"), std::string::npos);
  const MapTraining stopped =
      train_map(linear_model(1), noisy_plane(1), quick_options(), [](int64_t epoch) { return epoch < 3; });
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_TRUE(stopped.failure.empty());
}

}  // namespace
}  // namespace ockham
