#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "ockham/base/error.h"
#include "ockham/probability/likelihood.h"

namespace ockham {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

at::Tensor numbers(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

void expect_refused(const Likelihood& likelihood, const at::Tensor& targets, int64_t outputs,
                    const std::vector<std::string>& parts) {
  try {
    prepare_targets(likelihood, targets, outputs, at::kDouble);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " not in: " << error.what();
    }
  }
}

TEST(PrepareTargets, BringsRealTargetsToTheShapeAndTypeOfTheOutputs) {
  const at::Tensor flat = prepare_targets(Gaussian{}, numbers({1, 2.5}), 1, at::kFloat);
  EXPECT_EQ(flat.scalar_type(), at::kFloat);
  EXPECT_EQ(flat.sizes().vec(), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(prepare_targets(Gaussian{}, at::zeros({4, 3}), 3, at::kDouble).sizes().vec(), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(prepare_targets(Gaussian{}, at::zeros({4}, at::kLong), 1, at::kDouble).scalar_type(), at::kDouble);
  expect_refused(Gaussian{}, at::zeros({4}), 3, {"[4]", "gaussian", "[N, 3]"});
  expect_refused(Gaussian{}, at::zeros({4, 2}), 3, {"[4, 2]", "[N, 3]", "3 outputs"});
  expect_refused(Gaussian{}, at::zeros({4, 2}), 1, {"[4, 2]", "[N] or [N, 1]"});
  expect_refused(Gaussian{}, numbers({0, 1, kNan}), 1, {"row 2", "nan", "finite"});
  expect_refused(Gaussian{}, numbers({0, 1, 2, -std::numeric_limits<double>::infinity()}).reshape({2, 2}), 2,
                 {"row 1, column 1", "-inf"});
}

TEST(PrepareTargets, AcceptsClassesOfEveryNumberType) {
  for (const at::Tensor& targets :
       {numbers({0, 2, 1}), numbers({0, 2, 1}).to(at::kInt), numbers({0, 2, 1}).to(at::kByte),
        numbers({0, 2, 1}).to(at::kFloat), numbers({0, 2, 1}).unsqueeze(1)}) {
    const at::Tensor classes = prepare_targets(Categorical{}, targets, 3, at::kFloat);
    EXPECT_TRUE(at::equal(classes, at::tensor(std::vector<int64_t>{0, 2, 1})));
  }
}

TEST(PrepareTargets, RefusesWhatIsNoClass) {
  expect_refused(Categorical{}, numbers({0, 1, 7}), 5, {"row 2", "is 7", "0 to 4", "5 outputs"});
  expect_refused(Categorical{}, numbers({0, -1}), 5, {"row 1", "is -1", "0 to 4"});
  expect_refused(Categorical{}, numbers({0.5, 1}), 5, {"row 0", "is 0.5", "whole numbers"});
  expect_refused(Categorical{}, numbers({0, kNan}), 5, {"row 1", "nan"});
  expect_refused(Categorical{}, at::zeros({4, 3}), 3, {"[4, 3]", "categorical", "[N]"});
  expect_refused(Categorical{}, numbers({0, 0}), 1, {"at least 2 outputs", "bernoulli"});
}

TEST(PrepareTargets, TakesCoinsForOneLogit) {
  const at::Tensor coins = prepare_targets(Bernoulli{}, numbers({1, 0}).to(at::kBool), 1, at::kFloat);
  EXPECT_EQ(coins.sizes().vec(), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(coins.scalar_type(), at::kFloat);
  expect_refused(Bernoulli{}, numbers({0, 1, 2}), 1, {"row 2", "is 2", "0 or 1"});
  expect_refused(Bernoulli{}, numbers({0, 0.5}), 1, {"row 1", "is 0.5"});
  expect_refused(Bernoulli{}, numbers({kNan}), 1, {"row 0", "nan"});
  expect_refused(Bernoulli{}, numbers({0, 1}), 2, {"1 output", "has 2", "categorical"});
  expect_refused(Bernoulli{}, at::zeros({3, 2}), 1, {"[3, 2]"});
}

TEST(PrepareTargets, TakesCounts) {
  EXPECT_EQ(prepare_targets(Poisson{}, numbers({0, 3}), 1, at::kFloat).sizes().vec(), (std::vector<int64_t>{2, 1}));
  expect_refused(Poisson{}, numbers({0, -3}), 1, {"row 1", "is -3", "from 0 upwards"});
  expect_refused(Poisson{}, numbers({1.5}), 1, {"row 0", "is 1.5", "whole numbers"});
  expect_refused(Poisson{}, numbers({std::numeric_limits<double>::infinity()}), 1, {"row 0", "inf"});
}

}  // namespace
}  // namespace ockham
