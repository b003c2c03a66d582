#include "ockham/predict/linearised.h"

#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/curvature/jacobian.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::relative_difference;
using testing::seeded;

TEST(PredictFunction, IsTheClosedFormOfBayesianLinearRegression) {
  const at::Tensor inputs = seeded({12, 4}, 1), targets = seeded({12}, 2), test_inputs = seeded({7, 4}, 3);
  const Hyperparameters values{at::full({1}, 0.3, at::kDouble), at::full({1}, -0.5, at::kDouble),
                               at::zeros({0}, at::kDouble)};
  const double precision = std::exp(0.3), variance = std::exp(-1.0);
  const at::Tensor posterior_precision = inputs.t().mm(inputs) / variance + precision * at::eye(4, at::kDouble);
  const at::Tensor map = at::linalg_solve(posterior_precision, inputs.t().mv(targets) / variance);
  const Network network = testing::linear_network(map.unsqueeze(0));
  for (Structure structure : {Structure::full, Structure::block, Structure::kronecker}) {
    LaplaceOptions options;
    options.curvature.structure = structure;
    const LaplaceFit fit =
        fit_laplace({network, Gaussian{}, Prior::scalar(network.layout()), values}, {inputs, targets}, options);
    const FunctionPredictive function = predict_function(network, fit, values, test_inputs, 3);
    EXPECT_LT(relative_difference(function.mean.squeeze(1), test_inputs.mv(map)), 1e-12);
    const at::Tensor expected = (test_inputs * at::linalg_solve(posterior_precision, test_inputs.t()).t()).sum(1);
    EXPECT_LT(relative_difference(function.covariance.reshape(-1), expected), 1e-11);
    const RegressionPredictive regression = predict_regression(function, values);
    EXPECT_LT(relative_difference(regression.total.reshape(-1), expected + variance), 1e-11);
    EXPECT_TRUE(at::equal(regression.epistemic, function.covariance));
  }
}

TEST(PredictFunction, IsOfTheLogitsOverTheTemperature) {
  const testing::SmallProblem problem = testing::small_problems()[2];
  const Prior prior = Prior::layerwise(problem.network.layout());
  const Hyperparameters values = problem.at(prior);
  LaplaceOptions options;
  options.curvature.structure = Structure::full;
  const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options);
  const FunctionPredictive function = predict_function(problem.network, fit, values, problem.data.inputs());
  const double temperature = std::exp(values.log_temperature.item<double>());
  const JacobianBatch batch = jacobian(problem.network, problem.data.inputs());
  EXPECT_LT(relative_difference(function.mean, batch.outputs / temperature), 1e-12);
  const at::Tensor covariance =
      fit.curvature.output_covariance({1, values.log_prior_precision, {}}, batch.jacobian.to(at::kDouble));
  EXPECT_LT(relative_difference(function.covariance, covariance / (temperature * temperature)), 1e-12);
}

TEST(PredictRegression, TakesOneNoiseOrOnePerOutput) {
  const FunctionPredictive function{at::zeros({3, 2}, at::kDouble), at::eye(2, at::kDouble).repeat({3, 1, 1})};
  Hyperparameters values;
  values.log_noise = at::tensor({0.0, std::log(2.0)}, at::kDouble);
  const at::Tensor total = predict_regression(function, values).total;
  EXPECT_NEAR(total[1][0][0].item<double>(), 2, 1e-15);
  EXPECT_NEAR(total[1][1][1].item<double>(), 5, 1e-14);
  EXPECT_EQ(total[1][0][1].item<double>(), 0);
  values.log_noise = at::zeros({3}, at::kDouble);
  testing::expect_error(ErrorKind::usage, {"2 outputs"}, [&] { predict_regression(function, values); });
}

TEST(PredictProbit, ShrinksLogitsByTheirVariance) {
  const FunctionPredictive certain{seeded({4, 3}, 1), at::zeros({4, 3, 3}, at::kDouble)};
  EXPECT_LT(relative_difference(predict_probit(certain), at::softmax(certain.mean, 1)), 1e-14);
  const FunctionPredictive one_logit{at::tensor({2.0, -1.0}, at::kDouble).view({2, 1}),
                                     at::tensor({8 / M_PI * 3, 0.0}, at::kDouble).view({2, 1, 1})};
  const at::Tensor probabilities = predict_probit(one_logit);
  ASSERT_EQ(probabilities.sizes(), at::IntArrayRef({2, 2}));
  EXPECT_NEAR(probabilities[0][1].item<double>(), 1 / (1 + std::exp(-1.0)), 1e-14);  // 2 / sqrt(1 + 3)
  EXPECT_NEAR(probabilities[1][1].item<double>(), 1 / (1 + std::exp(1.0)), 1e-14);
  EXPECT_LT(relative_difference(probabilities.sum(1), at::ones({2}, at::kDouble)), 1e-14);
}

TEST(PredictSampled, IsTheMeanOfTheClassProbabilities) {
  // One logit: the mean of a sigmoid under a normal, by a fine grid.
  const double mean = 1.2, deviation = 1.5;
  const at::Tensor grid = at::linspace(-9, 9, 4001, at::kDouble);
  const at::Tensor weights = at::softmax(-0.5 * grid * grid, 0);
  const double expected = (weights * at::sigmoid(mean + deviation * grid)).sum().item<double>();
  const FunctionPredictive one{at::full({1, 1}, mean, at::kDouble),
                               at::full({1, 1, 1}, deviation * deviation, at::kDouble)};
  const at::Tensor sampled = predict_sampled(one, 20000, random_stream({1}));
  EXPECT_NEAR(sampled[0][1].item<double>(), expected, 0.01);
  EXPECT_NEAR(sampled.sum().item<double>(), 1, 1e-12);

  // Three logits with a covariance of rank one: only their sum is uncertain, which the softmax does not see.
  const FunctionPredictive three{seeded({2, 3}, 1), at::ones({2, 3, 3}, at::kDouble) * 4};
  EXPECT_LT(relative_difference(predict_sampled(three, 50, random_stream({2})), at::softmax(three.mean, 1)), 1e-6);
  testing::expect_error(ErrorKind::usage, {"samples"}, [&] { predict_sampled(three, 0, random_stream({2})); });
}

TEST(RemoveCommonMode, ProbabilitiesDoNotSeeWhatIsCommonToAllLogits) {
  const at::Tensor mean = at::randn({5, 3}, random_stream({1}), at::kDouble);
  const at::Tensor root = at::randn({5, 3, 3}, random_stream({2}), at::kDouble);
  const at::Tensor covariance = at::matmul(root, root.transpose(1, 2));
  const FunctionPredictive plain{mean, covariance}, shifted{mean + 7, covariance + 100};
  EXPECT_TRUE(at::allclose(predict_probit(remove_common_mode(plain)), predict_probit(remove_common_mode(shifted)),
                           1e-10, 1e-12));
  EXPECT_FALSE(at::allclose(predict_probit(plain), predict_probit(shifted)));
}

TEST(RemoveCommonMode, IndependentLogitsOfEqualVarianceStayAsTheyAre) {
  const at::Tensor mean = at::randn({5, 4}, random_stream({1}), at::kDouble);
  const FunctionPredictive logits{mean, 2.5 * at::eye(4, at::kDouble).expand({5, 4, 4})};
  EXPECT_TRUE(at::allclose(predict_probit(remove_common_mode(logits)), predict_probit(logits), 1e-12, 1e-14));
  const FunctionPredictive one{mean.narrow(1, 0, 1), at::ones({5, 1, 1}, at::kDouble)};
  EXPECT_TRUE(remove_common_mode(one).covariance.equal(one.covariance));
}

}  // namespace
}  // namespace ockham
