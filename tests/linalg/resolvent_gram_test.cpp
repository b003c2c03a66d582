#include "ockham/linalg/resolvent_gram.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/random.h"

namespace ockham {
namespace {

double largest_difference(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).abs().max() / expected.abs().max()).item<double>();
}

// Eigenvalues far below, around and far above t, zeros among them: the answers of a window are those of the formula.
TEST(ResolventGram, EqualsTheFormulaAtEveryStep) {
  const at::Tensor values = at::cat({at::zeros({5}, at::kDouble), at::logspace(-8, 8, 60, 10, at::kDouble)});
  const at::Tensor columns = at::randn({65, 7}, random_stream({1}), at::kDouble);
  for (const double centre : {-6.0, 0.0, 5.0}) {
    ResolventGram resolvent(values, columns);
    for (int i = 0; i < 60; ++i) {
      SCOPED_TRACE(i);
      const double log_shift = centre + (i < 40 ? 0.24 * std::sin(0.7 * i) : 0.05 * (i - 40));  // then it walks away
      const double shift = std::exp(log_shift);
      const ResolventGram::Value value = resolvent.at(log_shift);
      const at::Tensor denominator = (values + shift).unsqueeze(1);
      EXPECT_LT(largest_difference(value.gram, columns.t().mm(columns / denominator)), 1e-14);
      EXPECT_LT(largest_difference(value.slope, columns.t().mm(columns * shift / (denominator * denominator))), 1e-12);
    }
  }
}

}  // namespace
}  // namespace ockham
