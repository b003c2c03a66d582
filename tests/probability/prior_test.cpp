#include "ockham/probability/prior.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ockham/base/error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

ParameterLayout small_layout() {
  return ParameterLayout({{"scale", {1}}, {"conv.weight", {2, 3, 2, 1}}, {"conv.bias", {2}}, {"out.weight", {2, 2}}});
}

std::vector<Prior> all_priors() {
  const ParameterLayout layout = small_layout();
  return {Prior::scalar(layout), Prior::layerwise(layout), Prior::diagonal(layout), Prior::ard(layout),
          Prior::grouped(layout, {{"weights", {"out.weight", "conv.weight"}}, {"rest", {"scale", "conv.bias"}}})};
}

std::string refusal(const std::vector<std::pair<std::string, std::vector<std::string>>>& groups) {
  try {
    Prior::grouped(small_layout(), groups);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Prior, NamesItsGroups) {
  using Names = std::vector<std::string>;
  const auto priors = all_priors();
  EXPECT_EQ(priors[0].names(), Names{"all"});
  EXPECT_EQ(priors[1].names(), (Names{"scale", "conv.weight", "conv.bias", "out.weight"}));
  EXPECT_EQ(priors[2].size(), 19);
  EXPECT_EQ(priors[2].names()[1], "conv.weight[0]");
  EXPECT_EQ(priors[2].names()[18], "out.weight[3]");
  EXPECT_EQ(priors[3].names(),
            (Names{"scale", "conv.weight[:,0]", "conv.weight[:,1]", "conv.weight[:,2]", "conv.bias", "out.weight"}));
  EXPECT_EQ(priors[4].names(), (Names{"weights", "rest"}));
}

TEST(Prior, KnowsItsKindAndPatterns) {
  const auto priors = all_priors();
  EXPECT_EQ(priors[0].kind(), PriorKind::scalar);
  EXPECT_EQ(priors[3].kind(), PriorKind::ard);
  EXPECT_EQ(priors[4].kind(), PriorKind::groups);
  EXPECT_EQ(priors[3].slot(1).pattern, PriorSlot::Pattern::per_input_column);
  EXPECT_EQ(priors[3].slot(1).first, 1);
  EXPECT_EQ(priors[3].slot(3).pattern, PriorSlot::Pattern::uniform);  // the first matrix only
  EXPECT_EQ(priors[3].slot(3).first, 5);
  EXPECT_EQ(priors[2].slot(2).pattern, PriorSlot::Pattern::per_element);
  EXPECT_EQ(priors[2].slot(2).first, 13);
  EXPECT_EQ(priors[4].slot(0).first, 1);
}

TEST(Prior, ExpandsColumnsOverRowsAndKernelPositions) {
  const Prior prior = Prior::ard(small_layout());
  const at::Tensor by_group = at::tensor({9.0, 1.0, 2.0, 3.0, 8.0, 7.0}, at::kDouble);
  const at::Tensor expected = at::tensor({1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0}, at::kDouble);
  EXPECT_TRUE(at::equal(prior.expand(1, by_group), expected));
  const at::Tensor all = prior.expand(by_group);
  EXPECT_EQ(all.numel(), 19);
  EXPECT_EQ(all[0].item<double>(), 9);
  EXPECT_EQ(all[14].item<double>(), 8);
  EXPECT_EQ(all[18].item<double>(), 7);
}

TEST(Prior, AccumulateIsTheTransposeOfExpand) {
  for (const Prior& prior : all_priors()) {
    const at::Tensor by_group = at::randn({prior.size()}, at::kDouble), by_weight = at::randn({19}, at::kDouble);
    at::Tensor sums = at::zeros({prior.size()}, at::kDouble);
    for (size_t i = 0; i < prior.layout().count(); ++i) {
      const ParameterSlot& parameter = prior.layout()[i];
      prior.accumulate(i, by_weight.narrow(0, parameter.offset, parameter.size), sums);
    }
    const double expected = (prior.expand(by_group) * by_weight).sum().item<double>();
    EXPECT_NEAR((by_group * sums).sum().item<double>(), expected, 1e-12);
  }
}

TEST(Prior, DensityIsTheProductOfNormalDensities) {
  for (const Prior& prior : all_priors()) {
    const at::Tensor theta = at::randn({19}, at::kDouble), log_precision = at::randn({prior.size()}, at::kDouble);
    const at::Tensor precision = prior.expand(log_precision).exp();
    double expected = 0;
    for (int64_t i = 0; i < 19; ++i) {
      const double delta = precision[i].item<double>(), weight = theta[i].item<double>();
      expected += std::log(std::sqrt(delta / (2 * M_PI)) * std::exp(-delta * weight * weight / 2));
    }
    const Prior::Statistics statistics = prior.statistics(theta);
    EXPECT_NEAR(Prior::log_density(statistics, log_precision), expected, 1e-11);
    EXPECT_EQ(statistics.count.sum().item<double>(), 19);
  }
}

TEST(Prior, GradientEqualsFiniteDifferences) {
  for (const Prior& prior : all_priors()) {
    const Prior::Statistics statistics = prior.statistics(at::randn({19}, at::kDouble));
    const at::Tensor log_precision = at::randn({prior.size()}, at::kDouble);
    const at::Tensor expected = testing::finite_difference_gradient(
        [&](const at::Tensor& x) { return Prior::log_density(statistics, x); }, log_precision);
    EXPECT_LT(testing::relative_difference(Prior::log_density_gradient(statistics, log_precision), expected), 1e-9);
  }
}

TEST(Prior, StatisticsAreExactForFloatWeights) {
  const Prior prior = Prior::scalar(ParameterLayout({{"weight", {4}}}));
  const Prior::Statistics statistics = prior.statistics(at::tensor({1.0f, 1e-5f, 2.0f, 3.0f}));
  const double small = static_cast<double>(1e-5f);
  EXPECT_EQ(statistics.squared_norm.item<double>(), 1 + small * small + 4 + 9);
}

TEST(Prior, ArdWithoutAMatrixIsLayerwise) {
  const ParameterLayout layout({{"a", {3}}, {"b", {2}}});
  EXPECT_EQ(Prior::ard(layout).names(), Prior::layerwise(layout).names());
}

TEST(Prior, RefusesGroupsThatAreNoPartition) {
  const std::vector<std::string> all = {"scale", "conv.weight", "conv.bias", "out.weight"};
  EXPECT_EQ(refusal({{"all", all}}), "accepted");
  const auto contains = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  contains(refusal({{"a", {"scale", "conv.weight", "conv.bias"}}}), "'out.weight' is in none");
  contains(refusal({{"a", all}, {"b", {"scale"}}}), "'scale' is in the prior's groups 'a' and 'b'");
  contains(refusal({{"a", all}, {"b", {}}}), "'b' has no parameters");
  contains(refusal({{"a", all}, {"a", {"scale"}}}), "two groups named 'a'");
  contains(refusal({{"a", {"scael"}}}), "scael");
}

TEST(Prior, RefusesVectorsOfTheWrongSize) {
  const Prior prior = Prior::layerwise(small_layout());
  at::Tensor sums = at::zeros({4}, at::kDouble), short_sums = at::zeros({3}, at::kDouble);
  EXPECT_THROW(prior.expand(at::zeros({3}, at::kDouble)), Error);
  EXPECT_THROW(prior.statistics(at::zeros({18}, at::kDouble)), Error);
  EXPECT_THROW(prior.accumulate(0, at::zeros({2}, at::kDouble), sums), Error);
  EXPECT_THROW(prior.accumulate(0, at::zeros({1}, at::kDouble), short_sums), Error);
  const Prior::Statistics statistics = prior.statistics(at::zeros({19}, at::kDouble));
  EXPECT_THROW(Prior::log_density(statistics, at::zeros({1}, at::kDouble)), Error);
  EXPECT_THROW(Prior::log_density_gradient(statistics, at::zeros({5}, at::kDouble)), Error);
}

}  // namespace
}  // namespace ockham
