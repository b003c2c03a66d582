// Numbers by hand; the rest of the Poisson likelihood is tested with all others in likelihood_test.cpp.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/probability/likelihood.h"

namespace ockham {
namespace {

TEST(Poisson, HasThePoissonProbability) {
  const Hyperparameters none = default_likelihood_hyperparameters(Poisson{}, 1);
  const at::Tensor outputs = at::full({1, 1}, std::log(3.0), at::kDouble), targets = at::full({1, 1}, 4.0, at::kFloat);
  EXPECT_NEAR(log_likelihood(Poisson{}, outputs, targets, none), std::log(std::exp(-3.0) * 81 / 24), 1e-14);
}

TEST(Poisson, RootIsTheSquareRootOfTheRate) {
  const Hyperparameters none = default_likelihood_hyperparameters(Poisson{}, 2);
  const at::Tensor outputs = at::tensor({4.0, 9.0}, at::kDouble).log().unsqueeze(0);
  const OutputRoot root = output_root(Poisson{}, outputs, at::Tensor(), none, {}, at::Generator());
  EXPECT_TRUE(at::allclose(root.root[0], at::diag(at::tensor({2.0, 3.0}, at::kDouble)), 1e-14, 0));
}

}  // namespace
}  // namespace ockham
