#include "ockham/select/grid_search.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/network/architectures.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

GridCandidate make_candidate(const std::string& spec, int64_t features, const Likelihood& likelihood = Gaussian{},
                             int64_t outputs = 1) {
  return {spec, [=](uint64_t restart) {
            const Network network = make_architecture(spec, {features}, outputs, at::kDouble, restart);
            Hyperparameters start = default_likelihood_hyperparameters(likelihood, outputs);
            const Prior prior = Prior::layerwise(network.layout());
            start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
            return Model{network, likelihood, prior, start};
          }};
}

/// 20 inputs, two of which matter a little: without regularisation the others are fitted to the noise.
Dataset wide_plane() {
  auto stream = random_stream({11});
  const at::Tensor x = at::randn({60, 20}, stream, at::kDouble);
  return Dataset(x, 0.3 * (x.select(1, 0) - x.select(1, 1)) + 0.5 * at::randn({60}, stream, at::kDouble));
}

GridSearchOptions quick_options() {
  GridSearchOptions options;
  options.precisions = GridSearchOptions::logarithmic_grid(1e-4, 1e4, 9);
  options.validation.scheme = ValidationScheme::folds;
  options.training.epochs = 300;
  options.training.optimiser.learning_rate = 0.03;
  return options;
}

TEST(GridSearch, DefaultGridHasHalfDecades) {
  const GridSearchOptions options;
  ASSERT_EQ(options.precisions.size(), 13u);
  EXPECT_NEAR(options.precisions.front(), 1e-3, 1e-12);
  EXPECT_NEAR(options.precisions[1] / options.precisions[0], std::sqrt(10.0), 1e-9);
  EXPECT_NEAR(options.precisions.back(), 1e3, 1e-6);
}

TEST(GridSearch, FindsTheMiddleOfTheGridAndTrainsAgainOnAllData) {
  const Dataset data = wide_plane();
  const GridSearchOptions options = quick_options();
  const GridSearchResult result = grid_search({make_candidate("linear", 20)}, data, options);
  ASSERT_EQ(result.settings.size(), 9u);
  EXPECT_EQ(result.trainings, 9 * 5 + 1);
  ASSERT_TRUE(result.best.has_value());
  const GridSetting& best = result.settings[*result.best];
  EXPECT_GT(best.precision, 1e-3);
  EXPECT_LT(best.precision, 1e3);
  EXPECT_LT(best.nll, result.settings.front().nll - 0.1) << "weak regularisation overfits";
  EXPECT_LT(best.nll, result.settings.back().nll - 0.1) << "strong regularisation underfits";
  for (const GridSetting& setting : result.settings) {
    EXPECT_EQ(setting.fold_nlls.size(), 5u);
    EXPECT_GE(setting.nll, best.nll);
  }
  // Retrained from the weights of restart 0 on every example, at the best precision.
  ASSERT_TRUE(result.model.has_value());
  Model again = make_candidate("linear", 20).make_model(0);
  again.hyperparameters.log_prior_precision.fill_(std::log(best.precision));
  again.hyperparameters = train_map(again, data, options.training).hyperparameters;
  EXPECT_TRUE(result.model->network.flat_parameters().equal(again.network.flat_parameters()));
  EXPECT_TRUE(result.model->hyperparameters.log_noise.equal(again.hyperparameters.log_noise));
}

TEST(GridSearch, ScoreIsTheNllOnTheExamplesHeldOut) {
  const Dataset data = wide_plane();
  GridSearchOptions options = quick_options();
  options.validation.scheme = ValidationScheme::holdout;
  options.validation.holdout_fraction = 0.25;
  options.precisions = {2};
  const GridSearchResult result = grid_search({make_candidate("linear", 20)}, data, options);
  const ValidationSplit split = split_for_validation(60, options.validation)[0];
  const auto part = [&](const at::Tensor& rows) {
    return Dataset(data.inputs().index_select(0, rows), data.targets().index_select(0, rows));
  };
  Model model = make_candidate("linear", 20).make_model(0);
  model.hyperparameters.log_prior_precision.fill_(std::log(2.0));
  model.hyperparameters = train_map(model, part(split.training), options.training).hyperparameters;
  const double sigma = std::exp(model.hyperparameters.log_noise.item<double>());
  const Dataset held = part(split.validation);
  const at::Tensor residual = predict_outputs(model.network, held.inputs()).squeeze(1) - held.targets();
  const double nll = (residual / sigma).square().mean().item<double>() / 2 + std::log(sigma * std::sqrt(2 * M_PI));
  EXPECT_NEAR(result.settings[0].nll, nll, 1e-10);
  EXPECT_NEAR(result.settings[0].log_noise.item<double>(), std::log(sigma), 1e-12);
  // With the noise fitted on the validation part the score is the least possible for these weights.
  options.noise = PredictiveNoise::validation;
  const GridSearchResult kind = grid_search({make_candidate("linear", 20)}, data, options);
  const double deviation = std::sqrt(residual.square().mean().item<double>());
  EXPECT_NEAR(kind.settings[0].nll, 0.5 + std::log(deviation * std::sqrt(2 * M_PI)), 1e-10);
  EXPECT_TRUE(kind.model->hyperparameters.log_noise.equal(kind.settings[0].log_noise));
}

TEST(GridSearch, ChoosesAmongNetworksOnClasses) {
  auto stream = random_stream({3});
  const at::Tensor x = at::randn({120, 2}, stream, at::kDouble);
  const Dataset rings(x, x.square().sum(1).gt(1.4).to(at::kLong));
  GridSearchOptions options = quick_options();
  options.precisions = {0.1, 1};
  options.validation.scheme = ValidationScheme::holdout;
  const GridSearchResult result = grid_search(
      {make_candidate("linear", 2, Categorical{}, 2), make_candidate("mlp:20,act=tanh", 2, Categorical{}, 2)}, rings,
      options);
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.settings[*result.best].candidate, 1u);
  EXPECT_EQ(result.settings[0].log_noise.numel(), 0);
}

TEST(GridSearch, AFailingSettingIsRecordedAndLeftOut) {
  const GridCandidate broken{"broken", [](uint64_t) {
                               const at::Tensor weight = at::ones({1, 20}, at::kDouble).set_requires_grad(true);
                               const Network network({{"weight", weight}}, [=](const at::Tensor& x) {
                                 return at::linear(x, weight).abs().neg().sqrt();  // no number
                               });
                               Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
                               start.log_prior_precision = at::zeros({1}, at::kDouble);
                               return Model{network, Gaussian{}, Prior::scalar(network.layout()), start};
                             }};
  GridSearchOptions options = quick_options();
  options.precisions = {10, 1e30};  // at the second all weights are zero
  options.training.optimiser.kind = OptimiserKind::sgd;
  options.training.optimiser.learning_rate = 1e-2;
  const GridSearchResult result = grid_search({make_candidate("linear", 20), broken}, wide_plane(), options);
  ASSERT_TRUE(result.best.has_value());
  EXPECT_LT(*result.best, 2u);
  ASSERT_EQ(result.settings.size(), 4u);
  for (const size_t setting : {0u, 1u}) EXPECT_TRUE(result.settings[setting].failure.empty());
  for (const size_t setting : {2u, 3u}) {
    EXPECT_FALSE(result.settings[setting].failure.empty());
    EXPECT_TRUE(std::isinf(result.settings[setting].nll));
  }
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_NE(result.warnings[0].find("end of the grid"), std::string::npos);
  const GridSearchResult none = grid_search({broken}, wide_plane(), options);
  EXPECT_FALSE(none.best.has_value());
  EXPECT_FALSE(none.model.has_value());
  EXPECT_NE(none.failure.find("epoch"), std::string::npos);
}

TEST(GridSearch, TheWatcherCountsAndInterrupts) {
  GridSearchOptions options = quick_options();
  options.precisions = {1, 10};
  options.training.epochs = 5;
  int64_t most = 0;
  const auto count = [&](const GridSearchProgress& progress) {
    EXPECT_EQ(progress.trainings, 2 * 5 + 1);
    most = std::max(most, progress.training);
    return progress.training < 7;
  };
  const GridSearchResult result = grid_search({make_candidate("linear", 20)}, wide_plane(), options, count);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(most, 7);
  EXPECT_EQ(result.settings.size(), 1u) << "the half-done setting is not reported";
  EXPECT_FALSE(result.model.has_value());
}

TEST(GridSearch, RefusesNonsense) {
  GridSearchOptions options = quick_options();
  testing::expect_error(ErrorKind::usage, {"candidate"}, [&] { grid_search({}, wide_plane(), options); });
  options.precisions = {1, 0};
  testing::expect_error(ErrorKind::usage, {"positive", "0"},
                        [&] { grid_search({make_candidate("linear", 20)}, wide_plane(), options); });
}

}  // namespace
}  // namespace ockham
