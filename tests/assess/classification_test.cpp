#include "ockham/assess/classification.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using ockham::testing::expect_error;

// Predicted 0, 1, 0, 2, 0 (a tie: the first); targets 0, 1, 1, 2, 1.
at::Tensor probabilities() {
  return at::tensor({0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.5, 0.25, 0.25, 0.0, 0.1, 0.9, 0.4, 0.4, 0.2}, at::kDouble)
      .reshape({5, 3});
}
at::Tensor targets() { return at::tensor({0, 1, 1, 2, 1}, at::kLong); }

TEST(Classification, HandComputedScores) {
  const ClassificationScores scores = score_classification(probabilities(), targets());
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.6);
  EXPECT_NEAR(scores.mean_log_likelihood, std::log(0.8 * 0.7 * 0.25 * 0.9 * 0.4) / 5, 1e-15);
  EXPECT_NEAR(scores.brier, (0.06 + 0.14 + 0.875 + 0.02 + 0.56) / 5, 1e-15);
  EXPECT_EQ(scores.floored, 0);
}

TEST(Classification, HandComputedReliabilityAndCalibrationError) {
  // Confidences 0.8, 0.7, 0.5, 0.9, 0.4 in the bins (0.6, 0.8], (0.6, 0.8], (0.4, 0.6], (0.8, 1], (0.2, 0.4].
  const std::vector<ReliabilityBin> table = tabulate_reliability(probabilities(), targets(), 5);
  const std::vector<int64_t> counts = {0, 1, 1, 2, 1};
  const std::vector<double> confidence = {0, 0.4, 0.5, 0.75, 0.9}, accuracy = {0, 0, 0, 1, 1};
  ASSERT_EQ(table.size(), 5u);
  for (size_t b = 0; b < 5; ++b) {
    EXPECT_DOUBLE_EQ(table[b].lower, static_cast<double>(b) / 5);
    EXPECT_DOUBLE_EQ(table[b].upper, static_cast<double>(b + 1) / 5);
    EXPECT_EQ(table[b].count, counts[b]) << b;
    EXPECT_NEAR(table[b].mean_confidence, confidence[b], 1e-15) << b;
    EXPECT_EQ(table[b].accuracy, accuracy[b]) << b;
  }
  const double expected = (0.4 + 0.5 + 2 * 0.25 + 0.1) / 5;
  EXPECT_NEAR(expected_calibration_error(table), expected, 1e-15);
  EXPECT_NEAR(expected_calibration_error(probabilities(), targets(), 5), expected, 1e-15);
}

TEST(Classification, HandComputedConfusions) {
  const at::Tensor expected = at::tensor({1, 0, 0, 2, 1, 0, 0, 0, 1}, at::kLong).reshape({3, 3});
  EXPECT_TRUE(at::equal(count_confusions(probabilities(), targets()), expected));
}

TEST(Classification, UniformPredictions) {
  for (int64_t classes : {2, 3, 10}) {
    const double c = static_cast<double>(classes);
    const at::Tensor uniform = at::full({classes, classes}, 1 / c, at::kDouble), every = at::arange(classes, at::kLong);
    const ClassificationScores scores = score_classification(uniform, every);
    EXPECT_NEAR(scores.accuracy, 1 / c, 1e-15);
    EXPECT_NEAR(scores.mean_log_likelihood, -std::log(c), 1e-14);
    EXPECT_NEAR(scores.brier, 1 - 1 / c, 1e-14);
    EXPECT_NEAR(expected_calibration_error(uniform, every), 0, 1e-14);  // right as often as it says
  }
}

TEST(Classification, CertainAndRightOrCertainAndWrong) {
  const at::Tensor certain = at::eye(3, at::kDouble), right = at::arange(3, at::kLong);
  const ClassificationScores best = score_classification(certain, right);
  EXPECT_EQ(best.accuracy, 1);
  EXPECT_EQ(best.mean_log_likelihood, 0);
  EXPECT_EQ(best.brier, 0);
  EXPECT_EQ(expected_calibration_error(certain, right), 0);

  const ClassificationScores worst = score_classification(certain, (right + 1) % 3);
  EXPECT_EQ(worst.accuracy, 0);
  EXPECT_NEAR(worst.mean_log_likelihood, -1022 * std::log(2.0), 1e-10);  // the floor: the smallest normal double
  EXPECT_EQ(worst.floored, 3);
  EXPECT_EQ(worst.brier, 2);
  EXPECT_EQ(expected_calibration_error(certain, (right + 1) % 3), 1);
}

TEST(Classification, ConfidenceOnAnEdgeBelongsToTheBinBelow) {
  const int64_t bins = 15, classes = 40;
  for (int64_t b = 1; b <= bins; ++b) {
    const double edge = static_cast<double>(b) / static_cast<double>(bins);
    for (int64_t side : {0, 1}) {  // on the edge, and just above it
      const double confidence = side == 0 ? edge : std::nextafter(edge, 2.0);
      at::Tensor row = at::full({1, classes}, (1 - confidence) / (classes - 1), at::kDouble).clamp_min(0);
      row[0][7] = confidence;
      const auto table = tabulate_reliability(row, at::tensor({7}, at::kLong), bins);
      EXPECT_EQ(table[std::min(b - 1 + side, bins - 1)].count, 1) << b << " " << side;
    }
  }
}

TEST(Classification, EqualsSumsOverMasksOnRandomPredictions) {
  at::Generator generator = random_stream({11});
  const int64_t n = 3000, classes = 6, bins = 15;
  const at::Tensor p = at::softmax(2 * at::randn({n, classes}, generator, at::kDouble), 1);
  const at::Tensor y = at::randint(classes, {n}, generator, at::kLong);
  const at::Tensor one_hot = at::one_hot(y, classes).to(at::kDouble);
  const auto [confidence, predicted] = p.max(1);
  const at::Tensor right = (predicted == y).to(at::kDouble);

  const ClassificationScores scores = score_classification(p, y);
  EXPECT_NEAR(scores.accuracy, right.mean().item<double>(), 1e-14);
  EXPECT_NEAR(scores.mean_log_likelihood, (one_hot * p.log()).sum().item<double>() / n, 1e-12);
  EXPECT_NEAR(scores.brier, (p - one_hot).square().sum(1).mean().item<double>(), 1e-13);
  double calibration = 0;
  for (int64_t b = 0; b < bins; ++b) {
    const at::Tensor mask = (confidence > double(b) / bins).logical_and(confidence <= double(b + 1) / bins);
    calibration += std::abs((mask.to(at::kDouble) * (right - confidence)).sum().item<double>()) / n;
  }
  EXPECT_NEAR(expected_calibration_error(p, y), calibration, 1e-13);
  const at::Tensor confusions = at::matmul(one_hot.t(), at::one_hot(predicted, classes).to(at::kDouble));
  EXPECT_TRUE(at::equal(count_confusions(p, y).to(at::kDouble), confusions));

  // Layout, type and a graph do not matter.
  const at::Tensor by_columns = p.t().contiguous().t().requires_grad_();
  EXPECT_EQ(score_classification(by_columns, y).brier, scores.brier);
  EXPECT_NEAR(score_classification(p.to(at::kFloat), y).brier, scores.brier, 1e-7);
}

TEST(Classification, RefusesWrongTypesAndShapes) {
  const auto usage = [](const std::vector<std::string>& mentioned, const at::Tensor& p, const at::Tensor& y) {
    expect_error(ErrorKind::usage, mentioned, [&] { score_classification(p, y); });
    expect_error(ErrorKind::usage, mentioned, [&] { tabulate_reliability(p, y); });
    expect_error(ErrorKind::usage, mentioned, [&] { count_confusions(p, y); });
  };
  usage({"probabilities", "[15]", "[N, C]"}, probabilities().flatten(), targets());
  usage({"probabilities", "Long"}, probabilities().to(at::kLong), targets());
  usage({"probabilities", "undefined"}, at::Tensor(), targets());
  usage({"targets", "Double", "int64"}, probabilities(), targets().to(at::kDouble));
  usage({"targets", "undefined"}, probabilities(), at::Tensor());
  usage({"targets", "[4]", "[5]"}, probabilities(), targets().slice(0, 0, 4));
  usage({"targets", "[5, 1]", "[5]"}, probabilities(), targets().unsqueeze(1));
  expect_error(ErrorKind::usage, {"bins is 0"}, [] { tabulate_reliability(probabilities(), targets(), 0); });
}

TEST(Classification, RefusesBadData) {
  const auto data = [](const std::vector<std::string>& mentioned, const at::Tensor& p, const at::Tensor& y) {
    expect_error(ErrorKind::data, mentioned, [&] { score_classification(p, y); });
  };
  const auto with = [](double value) {
    at::Tensor p = probabilities().clone();
    p[3][1] = value;
    return p;
  };
  data({"empty", "[0, 3]"}, at::zeros({0, 3}, at::kDouble), at::zeros({0}, at::kLong));
  data({"target in row 2", "is 3", "0 to 2"}, probabilities(), at::tensor({0, 1, 3, 2, 1}, at::kLong));
  data({"target in row 4", "is -1"}, probabilities(), at::tensor({0, 1, 1, 2, -1}, at::kLong));
  data({"row 3, column 1", "nan"}, with(std::nan("")), targets());
  data({"row 3, column 1", "inf"}, with(std::numeric_limits<double>::infinity()), targets());
  data({"row 3, column 1", "-0.5", "negative"}, with(-0.5), targets());
  data({"row 3", "sum to 1.4"}, with(0.5), targets());
  expect_error(ErrorKind::data, {"no example"}, [] { expected_calibration_error(std::vector<ReliabilityBin>(3)); });
}

}  // namespace
}  // namespace ockham
