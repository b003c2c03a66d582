// Logits far from zero; the rest of the Bernoulli likelihood is tested with all others in likelihood_test.cpp.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/probability/likelihood.h"

namespace ockham {
namespace {

TEST(Bernoulli, StandsSureLogits) {
  const Hyperparameters start = default_likelihood_hyperparameters(Bernoulli{}, 1);
  for (at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor logits = at::tensor({-800.0, 800.0, 0.0}).to(type).unsqueeze(1);
    const at::Tensor targets = at::tensor({1.0, 1.0, 0.0}).to(type).unsqueeze(1);
    EXPECT_NEAR(log_likelihood(Bernoulli{}, logits, targets, start), -800 - std::log(2.0), 1e-10);
    const OutputRoot root =
        output_root(Bernoulli{}, logits, targets, start, {CurvatureKind::ggn, true, 1}, at::Generator());
    EXPECT_TRUE(at::isfinite(root.root).all().item<bool>());
    EXPECT_TRUE(at::isfinite(root.derivatives[0]).all().item<bool>());
    EXPECT_NEAR(root.root[2][0][0].item<double>(), 0.5, 1e-6);
  }
}

TEST(Bernoulli, KeepsTheSmallVarianceOfALargeLogit) {
  const Hyperparameters start = default_likelihood_hyperparameters(Bernoulli{}, 1);
  const at::Tensor logits = at::full({1, 1}, 50.0, at::kDouble);
  const OutputRoot root = output_root(Bernoulli{}, logits, at::ones({1, 1}, at::kDouble), start,
                                      {CurvatureKind::ggn, false, 1}, at::Generator());
  EXPECT_NEAR(root.root.item<double>() / std::exp(-25.0), 1, 1e-12);
}

}  // namespace
}  // namespace ockham
