#include "ockham/probability/hyperparameters.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace ockham {
namespace {

TEST(Hyperparameters, CloneSharesNothing) {
  const Hyperparameters original{at::Tensor(), at::zeros({2}, at::kDouble), at::zeros({0}, at::kDouble)};
  Hyperparameters copy = original.clone();
  copy.log_noise += 1;
  EXPECT_EQ(original.log_noise.sum().item<double>(), 0);
  EXPECT_FALSE(copy.log_prior_precision.defined());
  EXPECT_EQ(copy.log_temperature.numel(), 0);
}

}  // namespace
}  // namespace ockham
