#include "ockham/predict/table_predictions.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"
#include "tests/support/trained_cases.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::make_trained;
using testing::relative_difference;
using testing::TrainedCase;

PredictOptions by(PredictMethod method) {
  PredictOptions options;
  options.method = method;
  return options;
}

FunctionPredictive function_of(const TrainedModel& trained, const at::Tensor& inputs) {
  return predict_function(trained.model.network, trained.posterior, trained.model.hyperparameters,
                          inputs.to(trained.model.network.dtype()));
}

TEST(TablePredictions, OfARegressionAreInTheTargetsOwnUnits) {
  for (const Likelihood& likelihood : std::vector<Likelihood>{Gaussian{}, Gaussian{true}}) {
    TrainedCase wanted;
    wanted.likelihood = likelihood;
    wanted.dtype = at::kDouble;
    const TrainedModel trained = make_trained(wanted);
    const at::Tensor inputs = testing::trained_data(trained, likelihood, 30, 4).inputs();
    const TablePredictions predictions = predict_table(trained, inputs);
    EXPECT_EQ(predictions.method, PredictMethod::linearised);
    EXPECT_FALSE(predictions.probabilities.defined());
    const RegressionTable& table = predictions.regression;

    // Draws of z = f + noise, scaled one by one, must have these moments.
    const FunctionPredictive function = function_of(trained, inputs);
    const auto outputs = static_cast<int64_t>(trained.encoding.targets.size());
    for (int64_t c = 0; c < outputs; ++c) {
      const TargetEncoding& target = trained.encoding.targets[c];
      const at::Tensor& log_noise = trained.model.hyperparameters.log_noise;
      const double noise = std::exp(log_noise[std::min(c, log_noise.numel() - 1)].item<double>());
      for (int64_t n = 0; n < 3; ++n) {
        const double mean = function.mean[n][c].item<double>();
        const double variance = function.covariance[n][c][c].item<double>();
        EXPECT_NEAR(table.mean[n][c].item<double>(), target.mean + target.sd * mean, 1e-9);
        EXPECT_NEAR(table.sd_noise[n][c].item<double>(), target.sd * noise, 1e-10);
        EXPECT_NEAR(table.sd_epistemic[n][c].item<double>(), target.sd * std::sqrt(variance), 1e-10);
        const at::Tensor draws =
            target.mean + target.sd * (mean + std::sqrt(variance + noise * noise) *
                                                  at::randn({200000}, random_stream({7}), at::kDouble));
        EXPECT_NEAR(table.sd[n][c].item<double>(), draws.std().item<double>(), 0.01 * table.sd[n][c].item<double>());
        const double inside = at::logical_and(draws > table.lower95[n][c], draws < table.upper95[n][c])
                                  .to(at::kDouble)
                                  .mean()
                                  .item<double>();
        EXPECT_NEAR(inside, 0.95, 0.003);
      }
    }
  }
}

TEST(TablePredictions, MapLeavesTheWeightsCertain) {
  const TrainedModel trained = make_trained({});
  const at::Tensor inputs = testing::trained_data(trained, Gaussian{}, 700, 4).inputs();
  const RegressionTable map = predict_table(trained, inputs, by(PredictMethod::map)).regression;
  const RegressionTable full = predict_table(trained, inputs, by(PredictMethod::linearised)).regression;
  EXPECT_LT(relative_difference(map.mean, full.mean), 1e-6);
  EXPECT_EQ(map.sd_epistemic.abs().max().item<double>(), 0);
  EXPECT_LT(relative_difference(map.sd, map.sd_noise), 1e-15);
  EXPECT_TRUE((full.sd > map.sd).all().item<bool>());
}

TEST(TablePredictions, OfCountsHaveTheMomentsOfALogNormalRate) {
  TrainedCase wanted;
  wanted.likelihood = Poisson{};
  wanted.dtype = at::kDouble;
  const TrainedModel trained = make_trained(wanted, 20);
  const at::Tensor inputs = testing::trained_data(trained, Poisson{}, 5, 4).inputs();
  const RegressionTable table = predict_table(trained, inputs).regression;
  const FunctionPredictive function = function_of(trained, inputs);
  at::Generator generator = random_stream({3});
  for (int64_t n = 0; n < 5; ++n) {
    const at::Tensor rates =
        (function.mean[n] + function.covariance[n][0].sqrt() * at::randn({400000}, generator, at::kDouble)).exp();
    const at::Tensor counts = at::poisson(rates, generator);
    EXPECT_NEAR(table.mean[n][0].item<double>(), rates.mean().item<double>(), 0.01 * rates.mean().item<double>());
    EXPECT_NEAR(table.sd_epistemic[n][0].item<double>(), rates.std().item<double>(), 0.02 * rates.std().item<double>());
    EXPECT_NEAR(table.sd[n][0].item<double>(), counts.std().item<double>(), 0.02 * counts.std().item<double>());
    EXPECT_GE(table.lower95[n][0].item<double>(), 0);
  }
}

TEST(TablePredictions, OfClassesByEveryMethod) {
  for (const Likelihood& likelihood : std::vector<Likelihood>{Categorical{}, Bernoulli{}}) {
    TrainedCase wanted;
    wanted.likelihood = likelihood;
    wanted.dtype = at::kDouble;
    wanted.structure = Structure::kronecker;
    const TrainedModel trained = make_trained(wanted, 10);
    const at::Tensor inputs = testing::trained_data(trained, likelihood, 40, 4).inputs();
    const FunctionPredictive function = function_of(trained, inputs);
    const auto classes = static_cast<int64_t>(trained.encoding.classes.size());
    const TablePredictions standard = predict_table(trained, inputs);
    EXPECT_EQ(standard.method, PredictMethod::probit);
    EXPECT_EQ(standard.probabilities.sizes(), at::IntArrayRef({40, classes}));
    EXPECT_LT(relative_difference(standard.probabilities, predict_probit(remove_common_mode(function))), 1e-12);
    EXPECT_TRUE(
        predict_table(trained, inputs, by(PredictMethod::linearised)).probabilities.equal(standard.probabilities));
    const at::Tensor map = predict_table(trained, inputs, by(PredictMethod::map)).probabilities;
    EXPECT_LT(relative_difference(map, class_probabilities(function.mean)), 1e-12);
    PredictOptions sampling = by(PredictMethod::sampled);
    sampling.samples = 4000;
    const at::Tensor sampled = predict_table(trained, inputs, sampling).probabilities;
    EXPECT_LT((sampled - predict_sampled(function, 20000, random_stream({99}))).abs().max().item<double>(), 0.03);
    EXPECT_LT(relative_difference(sampled.sum(1), at::ones({40}, at::kDouble)), 1e-12);
    EXPECT_TRUE(predict_table(trained, inputs, sampling).probabilities.equal(sampled));
    sampling.seed = 1;
    EXPECT_FALSE(predict_table(trained, inputs, sampling).probabilities.equal(sampled));
  }
}

TEST(TablePredictions, DoNotDependOnTheBudget) {
  TrainedCase wanted;
  wanted.likelihood = Categorical{};
  wanted.dtype = at::kDouble;
  const TrainedModel trained = make_trained(wanted);
  const at::Tensor inputs = testing::trained_data(trained, Categorical{}, 1500, 4).inputs();
  PredictOptions options = by(PredictMethod::sampled);
  options.samples = 5;
  const at::Tensor wide = predict_table(trained, inputs, options).probabilities;
  options.memory_budget = 1;
  std::vector<int64_t> done;
  options.progress = [&](int64_t examples) { done.push_back(examples); };
  EXPECT_LT(relative_difference(predict_table(trained, inputs, options).probabilities, wide), 1e-11);
  ASSERT_EQ(done.size(), 1500u);  // one after the other in so small a budget
  EXPECT_EQ(done.front(), 1);
  EXPECT_EQ(done[1024], 1025);
  EXPECT_EQ(done.back(), 1500);
}

TEST(TablePredictions, OfPartsAreThoseOfTheWholeBitForBit) {
  for (const Likelihood& likelihood : std::vector<Likelihood>{Gaussian{}, Categorical{}}) {
    TrainedCase wanted;
    wanted.likelihood = likelihood;
    const TrainedModel trained = make_trained(wanted);
    const at::Tensor inputs = testing::trained_data(trained, likelihood, 3 * predict_part + 100, 4).inputs();
    const bool classes = trained.encoding.task == Task::classification;
    for (const PredictMethod method : {PredictMethod::map, PredictMethod::linearised, PredictMethod::sampled}) {
      if (method == PredictMethod::sampled && !classes) continue;
      PredictOptions options = by(method);
      options.samples = 20;
      const TablePredictions whole = predict_table(trained, inputs, options);
      for (options.first = 0; options.first < inputs.size(0); options.first += 2 * predict_part) {
        const int64_t count = std::min(2 * predict_part, inputs.size(0) - options.first);
        const TablePredictions part = predict_table(trained, inputs.narrow(0, options.first, count), options);
        if (classes) {
          EXPECT_TRUE(part.probabilities.equal(whole.probabilities.narrow(0, options.first, count)));
          continue;
        }
        EXPECT_TRUE(part.regression.mean.equal(whole.regression.mean.narrow(0, options.first, count)));
        EXPECT_TRUE(part.regression.sd.equal(whole.regression.sd.narrow(0, options.first, count)));
      }
    }
  }
}

TEST(TablePredictions, OfTheLastLayerAlone) {
  TrainedCase wanted;
  wanted.likelihood = Categorical{};
  wanted.dtype = at::kDouble;
  const TrainedModel trained = make_trained(wanted);
  const at::Tensor inputs = testing::trained_data(trained, Categorical{}, 30, 4).inputs();
  PredictOptions options = by(PredictMethod::probit);
  options.scope = PosteriorScope::last_layer;
  FunctionOptions function;
  function.scope = PosteriorScope::last_layer;
  const at::Tensor found = predict_table(trained, inputs, options).probabilities;
  const at::Tensor expected = predict_probit(remove_common_mode(
      predict_function(trained.model.network, trained.posterior, trained.model.hyperparameters, inputs, function)));
  EXPECT_TRUE(found.equal(expected));
  EXPECT_FALSE(found.allclose(predict_table(trained, inputs, by(PredictMethod::probit)).probabilities));
}

TEST(TablePredictions, RefuseWhatTheModelDoesNotHave) {
  const TrainedModel trained = make_trained({});
  const at::Tensor inputs = at::zeros({3, 5}, at::kDouble);
  expect_error(ErrorKind::usage, {"probit", "regression", "linearised"},
               [&] { predict_table(trained, inputs, by(PredictMethod::probit)); });
  expect_error(ErrorKind::usage, {"sampled", "regression"},
               [&] { predict_table(trained, inputs, by(PredictMethod::sampled)); });
  expect_error(ErrorKind::data, {"[3, 4]", "[N, 5]"}, [&] { predict_table(trained, at::zeros({3, 4})); });
  expect_error(ErrorKind::data, {"no examples"}, [&] { predict_table(trained, at::zeros({0, 5})); });
  TrainedCase classes;
  classes.likelihood = Categorical{};
  PredictOptions none = by(PredictMethod::sampled);
  none.samples = 0;
  expect_error(ErrorKind::usage, {"samples", "0"}, [&] { predict_table(make_trained(classes), inputs, none); });
}

TEST(TablePredictions, ThatAreNotFiniteAreRefusedByTheirRow) {
  for (const Likelihood& likelihood : std::vector<Likelihood>{Gaussian{}, Categorical{}, Poisson{}}) {
    TrainedCase wanted;
    wanted.likelihood = likelihood;
    const TrainedModel trained = make_trained(wanted);
    const at::Tensor inputs = testing::trained_data(trained, likelihood, 30, 4).inputs().to(at::kDouble).clone();
    inputs[17].fill_(1e60);  // more than float32 holds
    for (const PredictMethod method : {PredictMethod::map, PredictMethod::automatic}) {
      PredictOptions options = by(method);
      options.first = predict_part;
      expect_error(ErrorKind::numerical, {"example 1042 ", "not finite"},
                   [&] { predict_table(trained, inputs, options); });
    }
  }
}

}  // namespace
}  // namespace ockham
