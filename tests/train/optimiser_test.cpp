#include "ockham/train/optimiser.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/serialize.h>

#include <sstream>

#include "tests/support/expect_error.h"
#include "tests/support/variable_guard.h"

namespace ockham {
namespace {

TEST(LearningRateAt, FollowsItsSchedule) {
  OptimiserOptions options;
  options.learning_rate = 0.1;
  EXPECT_EQ(learning_rate_at(options, 7, 10), 0.1);
  options.schedule = LearningRateSchedule::cosine;
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 0, 10), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 5, 10), 0.05);
  EXPECT_NEAR(learning_rate_at(options, 10, 10), 0, 1e-17);
  options.schedule = LearningRateSchedule::step;
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 4, 10), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 5, 10), 0.01);
  EXPECT_NEAR(learning_rate_at(options, 8, 10), 0.001, 1e-15);
}

TEST(Optimiser, ContinuesFromItsSavedStateBitForBit) {
  for (OptimiserKind kind : {OptimiserKind::adam, OptimiserKind::sgd}) {
    OptimiserOptions options;
    options.kind = kind;
    options.learning_rate = 0.05;
    const auto descend = [](at::Tensor& x, Optimiser& optimiser, int steps) {
      for (int i = 0; i < steps; ++i) {
        optimiser.zero_gradients();
        (x * x * x * x).sum().backward();
        optimiser.step();
      }
    };
    at::Tensor straight = at::tensor({1.0, -2.0}, at::kDouble).requires_grad_();
    Optimiser one({straight}, options);
    descend(straight, one, 10);

    at::Tensor first = at::tensor({1.0, -2.0}, at::kDouble).requires_grad_();
    Optimiser before({first}, options);
    descend(first, before, 4);
    at::Tensor second = first.detach().clone().requires_grad_();
    Optimiser after({second}, options);
    after.restore(before.save());
    descend(second, after, 6);
    EXPECT_TRUE(second.equal(straight));
  }
}

TEST(Optimiser, RefusesStatesThatAreNotItsOwn) {
  at::Tensor weight = at::ones({2, 3}).requires_grad_(), other = at::ones({5}).requires_grad_();
  OptimiserOptions adam, sgd;
  sgd.kind = OptimiserKind::sgd;
  const auto saved = [](const at::Tensor& parameter, const OptimiserOptions& options) {
    Optimiser optimiser({parameter}, options);
    optimiser.zero_gradients();
    parameter.square().sum().backward();
    optimiser.step();
    return optimiser.save();
  };
  const std::string good = saved(weight, adam);
  const auto refused = [&](const std::string& state) {
    Optimiser optimiser({weight}, adam);
    testing::expect_error(ErrorKind::data, {"optimiser", "does not fit"}, [&] { optimiser.restore(state); });
  };
  for (const std::string& state : {std::string(), std::string("rubbish"), saved(weight, sgd), saved(other, adam),
                                   good.substr(0, good.size() - 1), good + "x", good.substr(0, 15)})
    refused(state);
  // Nothing in a checkpoint is a program: the bytes are no archive that libtorch would run.
  EXPECT_NE(good.substr(0, 2), "PK");
}

TEST(Optimiser, TakesTheArchivesOfEarlierVersionsUnlessTorchScriptIsRefused) {
  at::Tensor weight = at::tensor({1.0, -2.0}, at::kDouble).requires_grad_();
  torch::optim::Adam theirs({weight}, torch::optim::AdamOptions(0.05));
  weight.square().sum().backward();
  theirs.step();
  torch::serialize::OutputArchive archive;
  theirs.save(archive);
  std::ostringstream bytes;
  archive.save_to(bytes);
  OptimiserOptions options;
  options.learning_rate = 0.05;
  at::Tensor copy = weight.detach().clone().requires_grad_();
  Optimiser ours({copy}, options);
  ours.restore(bytes.str());
  for (at::Tensor* one : {&weight, &copy}) {
    one->mutable_grad() = at::Tensor();
    one->square().sum().backward();
  }
  theirs.step();
  ours.step();
  EXPECT_LT((weight - copy).abs().max().item<double>(), 1e-15);
  const testing::VariableGuard refuse("OCKHAM_NO_TORCHSCRIPT");
  refuse.set("1");
  testing::expect_error(ErrorKind::usage, {"earlier version", "--no-torchscript"}, [&] { ours.restore(bytes.str()); });
}

TEST(Optimiser, IsLibtorchsAdam) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const at::Tensor start = at::linspace(-2, 2, 50, type).view({5, 10});
    at::Tensor ours = start.clone().requires_grad_(), theirs = start.clone().requires_grad_();
    OptimiserOptions options;
    options.learning_rate = 0.05;
    Optimiser one({ours}, options);
    torch::optim::Adam other({theirs}, torch::optim::AdamOptions(0.05));
    for (int i = 0; i < 30; ++i) {
      if (i == 20) {
        one.set_learning_rate(0.01);
        static_cast<torch::optim::AdamOptions&>(other.param_groups()[0].options()).lr(0.01);
      }
      one.zero_gradients();
      other.zero_grad();
      (ours * ours * ours * ours).sum().backward();
      (theirs * theirs * theirs * theirs).sum().backward();
      one.step();
      other.step();
      const double tolerance = type == at::kDouble ? 1e-13 : 1e-6;
      ASSERT_LT((ours - theirs).abs().max().item<double>(), tolerance) << i;
    }
  }
}

}  // namespace
}  // namespace ockham
