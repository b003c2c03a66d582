// Numbers by hand and wrong noise; the rest of the Gaussian likelihood is tested with all others in
// likelihood_test.cpp.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ockham/base/error.h"
#include "ockham/probability/likelihood.h"

namespace ockham {
namespace {

TEST(Gaussian, HasTheNormalDensity) {
  Hyperparameters noise = default_likelihood_hyperparameters(Gaussian{}, 2);
  noise.log_noise[0] = std::log(2.0);
  const at::Tensor outputs = at::tensor({0.0, 1.0}, at::kDouble).unsqueeze(0), targets = at::zeros({1, 2}, at::kDouble);
  // Two normal densities with σ = 2, one of them half a standard deviation from its mean.
  EXPECT_NEAR(log_likelihood(Gaussian{}, outputs, targets, noise), -std::log(2 * M_PI * 4) - 0.125, 1e-14);
}

TEST(Gaussian, RootIsTheIdentityAtUnitNoise) {
  Hyperparameters noise = default_likelihood_hyperparameters(Gaussian{}, 3);
  noise.log_noise[0] = 1.5;
  const OutputRoot root = output_root(Gaussian{}, at::randn({4, 3}), at::Tensor(), noise, {}, at::Generator());
  EXPECT_TRUE(at::equal(root.root, at::eye(3).expand({4, 3, 3})));
}

TEST(Gaussian, SaysHowManyNoisesItNeeds) {
  const auto message = [](const Gaussian& gaussian, int64_t noises) {
    const Hyperparameters at{at::Tensor(), at::zeros({noises}, at::kDouble), at::zeros({0}, at::kDouble)};
    try {
      log_likelihood(gaussian, at::zeros({2, 3}), at::zeros({2, 3}), at);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message(Gaussian{}, 1), "accepted");
  EXPECT_EQ(message(Gaussian{}, 3), "The Gaussian likelihood needs 1 noise value (log_noise), but there are 3.");
  EXPECT_EQ(message(Gaussian{true}, 1),
            "The Gaussian likelihood needs 3 noise values, one per output (log_noise), but there is 1.");
}

}  // namespace
}  // namespace ockham
