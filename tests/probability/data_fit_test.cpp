#include "ockham/probability/data_fit.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>

#include "ockham/base/error.h"
#include "tests/probability/likelihood_cases.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::LikelihoodCase;

class EachDataFit : public ::testing::TestWithParam<size_t> {
 protected:
  const LikelihoodCase one = testing::likelihood_cases()[GetParam()];

  DataFit fit(bool keep, const std::vector<int64_t>& batches = {2, 1, 2}) const {
    DataFit result(one.likelihood, one.hyperparameters, keep);
    int64_t begin = 0;
    for (int64_t size : batches) {
      result.add(one.outputs.narrow(0, begin, size), one.targets.narrow(0, begin, size));
      begin += size;
    }
    return result;
  }
  Hyperparameters shifted(double shift) const {
    Hyperparameters result = one.hyperparameters.clone();
    result.log_noise += shift;
    result.log_temperature += shift;
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(All, EachDataFit, ::testing::Range<size_t>(0, 5),
                         [](const auto& info) { return testing::likelihood_cases()[info.param].name; });

TEST_P(EachDataFit, EqualsTheLogLikelihoodWhereverItIsAsked) {
  for (double shift : {0.0, 0.3, -0.8}) {
    const Hyperparameters at = shifted(shift);
    const double expected = log_likelihood(one.likelihood, one.outputs, one.targets, at);
    EXPECT_NEAR(fit(true).evaluate(at).log_likelihood, expected, 1e-11);
    EXPECT_NEAR(fit(true, {5}).evaluate(at).log_likelihood, expected, 1e-11);
  }
  const double here = log_likelihood(one.likelihood, one.outputs, one.targets, one.hyperparameters);
  EXPECT_NEAR(fit(false).evaluate(one.hyperparameters).log_likelihood, here, 1e-11);
}

TEST_P(EachDataFit, HasTheGradientOfItsValue) {
  for (bool keep : {true, false}) {
    for (double shift : {0.0, 0.4}) {
      if (!keep && shift != 0) continue;
      const Hyperparameters at = shifted(shift);
      const DataFit::Value value = fit(keep).evaluate(at);
      for (at::Tensor Hyperparameters::*member : {&Hyperparameters::log_noise, &Hyperparameters::log_temperature}) {
        const at::Tensor expected = testing::finite_difference_gradient(
            [&](const at::Tensor& x) {
              Hyperparameters moved = at.clone();
              moved.*member = x;
              return log_likelihood(one.likelihood, one.outputs, one.targets, moved);
            },
            at.*member);
        const at::Tensor& actual =
            member == &Hyperparameters::log_noise ? value.gradient_log_noise : value.gradient_log_temperature;
        ASSERT_EQ(actual.sizes(), expected.sizes());
        if (expected.numel() == 0) continue;
        EXPECT_LT(testing::relative_difference(actual, expected), 1e-9);
      }
    }
  }
}

TEST_P(EachDataFit, CountsAndKeepsWhatItWasGiven) {
  const DataFit kept = fit(true);
  EXPECT_EQ(kept.examples(), 5);
  EXPECT_EQ(kept.outputs(), one.outputs.size(1));
  EXPECT_TRUE(at::equal(kept.kept_outputs(), one.outputs));
  EXPECT_TRUE(at::equal(kept.kept_targets(), one.targets));
  EXPECT_THROW(fit(false).kept_outputs(), Error);
  EXPECT_THROW(fit(false).kept_targets(), Error);
}

TEST_P(EachDataFit, AccumulatesFloatOutputsInDouble) {
  const bool real = one.targets.is_floating_point();
  const at::Tensor outputs = one.outputs.to(at::kFloat), targets = real ? one.targets.to(at::kFloat) : one.targets;
  DataFit single(one.likelihood, one.hyperparameters, true);
  single.add(outputs, targets);
  const double expected = log_likelihood(one.likelihood, outputs.to(at::kDouble),
                                         real ? targets.to(at::kDouble) : targets, one.hyperparameters);
  EXPECT_NEAR(single.evaluate(one.hyperparameters).log_likelihood, expected, 1e-11);
  EXPECT_EQ(single.kept_outputs().scalar_type(), at::kDouble);
}

TEST_P(EachDataFit, IsNotChangedByMovingTheHyperparametersItWasMadeWith) {
  Hyperparameters at = one.hyperparameters.clone();
  DataFit result(one.likelihood, at, false);
  at.log_temperature += 1;
  result.add(one.outputs, one.targets);
  EXPECT_NEAR(result.evaluate(one.hyperparameters).log_likelihood,
              log_likelihood(one.likelihood, one.outputs, one.targets, one.hyperparameters), 1e-11);
}

TEST(DataFit, KeepsTheOrderOfManyBatches) {
  DataFit fit(Gaussian{}, default_likelihood_hyperparameters(Gaussian{}, 1), true);
  const at::Tensor outputs = at::arange(1000, at::kDouble).unsqueeze(1);
  for (int64_t begin = 0; begin < 1000; begin += 8) fit.add(outputs.narrow(0, begin, 8), outputs.narrow(0, begin, 8));
  EXPECT_TRUE(at::equal(fit.kept_outputs(), outputs));
}

TEST(DataFit, RefusesAnotherTemperatureWithoutOutputs) {
  const LikelihoodCase one = testing::likelihood_cases()[2];
  DataFit fit(one.likelihood, one.hyperparameters, false);
  fit.add(one.outputs, one.targets);
  try {
    fit.evaluate(testing::moved(one, 0, 0.1));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("temperature 1.41907"), std::string::npos) << error.what();
  }
}

TEST(DataFit, ASummaryIsTakenUpAgain) {
  for (const LikelihoodCase& one : testing::likelihood_cases()) {
    DataFit fit(one.likelihood, one.hyperparameters, true);
    fit.add(one.outputs, one.targets);
    const DataFit again(one.likelihood, one.hyperparameters, fit.summary());
    const DataFit::Value before = fit.evaluate(one.hyperparameters), after = again.evaluate(one.hyperparameters);
    EXPECT_EQ(after.log_likelihood, before.log_likelihood) << one.name;
    EXPECT_TRUE(after.gradient_log_noise.equal(before.gradient_log_noise)) << one.name;
    EXPECT_TRUE(after.gradient_log_temperature.equal(before.gradient_log_temperature)) << one.name;
    EXPECT_EQ(again.examples(), fit.examples());
    EXPECT_EQ(again.outputs(), fit.outputs());
  }
}

TEST(DataFit, IsZeroWithoutData) {
  for (const LikelihoodCase& one : testing::likelihood_cases()) {
    if (one.name == "gaussian_per_output") continue;  // the number of outputs is not known yet
    const DataFit::Value value = DataFit(one.likelihood, one.hyperparameters, true).evaluate(one.hyperparameters);
    EXPECT_EQ(value.log_likelihood, 0);
  }
}

}  // namespace
}  // namespace ockham
