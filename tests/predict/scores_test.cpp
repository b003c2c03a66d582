#include "ockham/predict/scores.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/random.h"
#include "ockham/evidence/evidence.h"
#include "tests/support/trained_cases.h"

namespace ockham {
namespace {

using testing::make_trained;
using testing::trained_data;
using testing::TrainedCase;

TrainedModel train(const Likelihood& likelihood) {
  TrainedCase wanted;
  wanted.likelihood = likelihood;
  wanted.dtype = at::kDouble;
  return make_trained(wanted, 30);
}

TEST(Scores, OfTheNetworkAloneNeedNoPosterior) {
  for (const Likelihood& likelihood :
       std::vector<Likelihood>{Gaussian{}, Gaussian{true}, Poisson{}, Categorical{}, Bernoulli{}}) {
    const TrainedModel trained = train(likelihood);
    const Dataset data = trained_data(trained, likelihood, 300, 9);
    ScoreOptions options;
    options.linearised_examples = 0;
    std::vector<int64_t> done;
    options.map_progress = [&](int64_t examples) { done.push_back(examples); };
    options.progress = [](int64_t) { FAIL() << "nothing is linearised"; };
    const PredictiveScores whole = score(trained, data), alone = score(trained, data, options),
                           map = score_map(trained.model, trained.encoding, data);
    EXPECT_EQ(done, (std::vector<int64_t>{256, 300}));
    options.linearised_examples = 300;
    options.progress = [](int64_t) { throw ScoreOptions::LeaveOut(); };
    for (const PredictiveScores& scores : {alone, map, score(trained, data, options)}) {
      EXPECT_EQ(scores.examples, 300);
      EXPECT_EQ(scores.linearised_examples, 0);
      EXPECT_EQ(scores.log_likelihood, whole.log_likelihood);
      EXPECT_EQ(scores.nll, whole.nll);
      EXPECT_EQ(scores.rmse, whole.rmse);
      EXPECT_EQ(scores.accuracy, whole.accuracy);
      EXPECT_TRUE(std::isnan(scores.nll_bayes));
      EXPECT_FALSE(scores.coverage95 || scores.accuracy_bayes || scores.linearised_rows.defined());
    }
  }
}

TEST(Scores, OfARegressionAreDensitiesInTheTargetsUnits) {
  for (const Likelihood& likelihood : std::vector<Likelihood>{Gaussian{}, Gaussian{true}}) {
    const TrainedModel trained = train(likelihood);
    const Dataset data = trained_data(trained, likelihood, 30, 9);
    const PredictiveScores scores = score(trained, data);
    const RegressionTable table = predict_table(trained, data.inputs()).regression;
    double map = 0, bayes = 0, squares = 0, inside = 0;
    const auto outputs = static_cast<int64_t>(trained.encoding.targets.size());
    const auto log_normal = [](double y, double mean, double sd) {
      return -0.5 * std::pow((y - mean) / sd, 2) - std::log(sd) - 0.5 * std::log(2 * M_PI);
    };
    for (int64_t n = 0; n < 30; ++n) {
      for (int64_t c = 0; c < outputs; ++c) {
        const TargetEncoding& target = trained.encoding.targets[c];
        const double y = target.mean + target.sd * data.targets()[n][c].item<double>();
        const double mean = table.mean[n][c].item<double>(), sd = table.sd[n][c].item<double>();
        map += log_normal(y, mean, table.sd_noise[n][c].item<double>()) / 30;
        bayes += log_normal(y, mean, sd) / 30;
        squares += (y - mean) * (y - mean) / static_cast<double>(30 * outputs);
        inside += (std::abs(y - mean) < 1.959963984540054 * sd) / static_cast<double>(30 * outputs);
      }
    }
    EXPECT_EQ(scores.examples, 30);
    EXPECT_NEAR(scores.log_likelihood, map, 1e-8);
    EXPECT_NEAR(scores.nll, -map, 1e-8);
    EXPECT_NEAR(scores.nll_bayes, -bayes, 1e-8);
    EXPECT_NEAR(*scores.rmse, std::sqrt(squares), 1e-7 * std::sqrt(squares));
    EXPECT_NEAR(*scores.coverage95, inside, 1e-12);
    EXPECT_FALSE(scores.accuracy);
  }
}

TEST(Scores, OnTheTrainingTableAreTheLikelihoodOfTheEvidence) {
  const TrainedModel trained = train(Gaussian{});
  const Dataset data = trained_data(trained, Gaussian{}, 40, 3);  // the rows it was trained on
  const double total = evidence(trained.posterior, trained.model.hyperparameters).log_likelihood;
  EXPECT_NEAR(score(trained, data).log_likelihood, log_density_in_target_units(trained.encoding, total, 40) / 40, 1e-9);
}

TEST(Scores, OfClasses) {
  for (const Likelihood& likelihood : std::vector<Likelihood>{Categorical{}, Bernoulli{}}) {
    const TrainedModel trained = train(likelihood);
    const Dataset data = trained_data(trained, likelihood, 50, 9);
    const PredictiveScores scores = score(trained, data);
    PredictOptions options;
    options.method = PredictMethod::map;
    const at::Tensor map = predict_table(trained, data.inputs(), options).probabilities;
    const at::Tensor probit = predict_table(trained, data.inputs()).probabilities;
    double nll = 0, nll_bayes = 0, hits = 0;
    for (int64_t n = 0; n < 50; ++n) {
      const auto y = data.targets()[n].item<int64_t>();
      nll -= std::log(map[n][y].item<double>()) / 50;
      nll_bayes -= std::log(probit[n][y].item<double>()) / 50;
      hits += (map[n].argmax().item<int64_t>() == y) / 50.0;
    }
    EXPECT_NEAR(scores.nll, nll, 1e-10);
    EXPECT_NEAR(scores.nll_bayes, nll_bayes, 1e-10);
    EXPECT_NEAR(*scores.accuracy, hits, 1e-12);
    EXPECT_TRUE(scores.ece && scores.brier && scores.ece_bayes && scores.brier_bayes && scores.accuracy_bayes);
    EXPECT_FALSE(scores.rmse);
  }
}

TEST(Scores, OfCountsIntegrateOverTheRate) {
  const TrainedModel trained = train(Poisson{});
  const Dataset data = trained_data(trained, Poisson{}, 6, 9);
  const PredictiveScores scores = score(trained, data);
  const FunctionPredictive function =
      predict_function(trained.model.network, trained.posterior, trained.model.hyperparameters, data.inputs());
  const at::Tensor x = at::linspace(-12, 12, 20001, at::kDouble);
  const double step = 24.0 / 20000;
  double nll = 0, bayes = 0;
  for (int64_t n = 0; n < 6; ++n) {
    const double y = data.targets()[n][0].item<double>(), mean = function.mean[n][0].item<double>();
    nll -= (y * mean - std::exp(mean) - std::lgamma(y + 1)) / 6;
    const at::Tensor log_rate = mean + function.covariance[n][0][0].sqrt() * x;
    const at::Tensor mass = (y * log_rate - log_rate.exp() - std::lgamma(y + 1) - 0.5 * x.square()).exp();
    bayes -= std::log(mass.sum().item<double>() * step / std::sqrt(2 * M_PI)) / 6;
  }
  EXPECT_NEAR(scores.nll, nll, 1e-9);
  EXPECT_NEAR(scores.nll_bayes, bayes, 1e-6);
}

TEST(Scores, ThinOnlyTheLinearisedOnes) {
  const TrainedModel trained = train(Gaussian{});
  const Dataset data = trained_data(trained, Gaussian{}, 100, 9);
  ScoreOptions options;
  options.linearised_examples = 10;
  const PredictiveScores thin = score(trained, data, options), all = score(trained, data);
  EXPECT_EQ(thin.linearised_examples, 10);
  EXPECT_EQ(all.linearised_examples, 100);
  EXPECT_EQ(thin.nll, all.nll);
  const at::Tensor every_tenth = at::arange(0, 100, 10, at::kLong);
  const Dataset some(data.inputs().index_select(0, every_tenth), data.targets().index_select(0, every_tenth));
  EXPECT_NEAR(thin.nll_bayes, score(trained, some).nll_bayes, 1e-10);
}

}  // namespace
}  // namespace ockham
