#include "ockham/predict/streamed_scores.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/error.h"
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

PredictiveScores score_parts(const TrainedModel& trained, const Dataset& data, int64_t rows,
                             const ScoreOptions& options) {
  StreamedScores scores(trained, options);
  for (int64_t first = 0; first < data.size(); first += rows) {
    const int64_t count = std::min(rows, data.size() - first);
    scores.add(Dataset(data.inputs().narrow(0, first, count), data.targets().narrow(0, first, count)));
  }
  EXPECT_EQ(scores.examples(), data.size());
  return scores.finish();
}

void expect_near(const std::optional<double>& left, const std::optional<double>& right) {
  ASSERT_EQ(left.has_value(), right.has_value());
  if (left) {
    EXPECT_NEAR(*left, *right, 1e-12 * (1 + std::abs(*right)));
  }
}

TEST(StreamedScores, AreThoseOfAllExamplesTogether) {
  for (const Likelihood& likelihood :
       std::vector<Likelihood>{Gaussian{}, Gaussian{true}, Poisson{}, Categorical{}, Bernoulli{}}) {
    const TrainedModel trained = train(likelihood);
    const Dataset data = trained_data(trained, likelihood, 700, 9);
    const PredictiveScores whole = score(trained, data);
    for (const int64_t rows : {700, 256, 3 * 64, 699}) {
      const PredictiveScores parts = score_parts(trained, data, rows, {});
      EXPECT_EQ(parts.examples, 700);
      EXPECT_EQ(parts.linearised_examples, 700);
      expect_near(parts.log_likelihood, whole.log_likelihood);
      expect_near(parts.nll, whole.nll);
      expect_near(parts.nll_bayes, whole.nll_bayes);
      expect_near(parts.rmse, whole.rmse);
      expect_near(parts.coverage95, whole.coverage95);
      expect_near(parts.accuracy, whole.accuracy);
      expect_near(parts.ece, whole.ece);
      expect_near(parts.brier, whole.brier);
      expect_near(parts.accuracy_bayes, whole.accuracy_bayes);
      expect_near(parts.ece_bayes, whole.ece_bayes);
      expect_near(parts.brier_bayes, whole.brier_bayes);
    }
  }
}

TEST(StreamedScores, KeepASampleForTheLinearisedPredictive) {
  const TrainedModel trained = train(Gaussian{});
  const Dataset data = trained_data(trained, Gaussian{}, 500, 9);
  ScoreOptions options;
  options.linearised_examples = 100;
  const at::Tensor eighth = at::arange(0, 500, 8, at::kLong);
  const PredictiveScores sample =
      score(trained, Dataset(data.inputs().index_select(0, eighth), data.targets().index_select(0, eighth)));
  const PredictiveScores whole = score(trained, data);
  for (const int64_t rows : {500, 100, 7, 1}) {
    const PredictiveScores parts = score_parts(trained, data, rows, options);
    EXPECT_EQ(parts.linearised_examples, 63);
    expect_near(parts.nll_bayes, sample.nll_bayes);
    expect_near(parts.coverage95, sample.coverage95);
    expect_near(parts.nll, whole.nll);
    expect_near(parts.rmse, whole.rmse);
  }
  options.linearised_examples = 0;
  EXPECT_TRUE(std::isnan(score_parts(trained, data, 50, options).nll_bayes));
  EXPECT_THROW(StreamedScores(trained).finish(), Error);
}

}  // namespace
}  // namespace ockham
