#include "ockham/linalg/present_products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"

namespace ockham {
namespace {

template <class Scalar>
void expect_sums_over_examples(at::ScalarType type, int64_t examples, int64_t columns, int64_t q) {
  const at::Generator generator = random_stream({5});
  const auto draw = [&](int64_t lefts) {
    const at::Tensor there = at::randn({examples, 1, lefts}, generator, at::kDouble).gt(0.2);
    return at::randn({examples, columns, lefts}, generator, at::kDouble).mul(there).to(type);
  };
  const at::Tensor left = draw(3), other = draw(4), rights = at::randn({examples, q}, generator, at::kDouble).to(type);
  const PresentLefts<Scalar> first(left), second(other);
  EXPECT_DOUBLE_EQ(first.share(), left.ne(0).any(1).to(at::kDouble).mean().item<double>());
  ASSERT_EQ(first.pieces(), (examples + kExamplesOfPiece - 1) / kExamplesOfPiece);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      const at::Tensor sum = at::ones({q}, type);
      for (int64_t piece = 0; piece < first.pieces(); ++piece)
        first.add_products(i, second, j, piece, rights.data_ptr<Scalar>() + piece * kExamplesOfPiece * q, q,
                           sum.data_ptr<Scalar>());
      const at::Tensor weights = (left.select(2, i) * other.select(2, j)).sum(1).to(at::kDouble);
      const at::Tensor expected = 1 + weights.unsqueeze(0).mm(rights.to(at::kDouble)).squeeze(0);
      EXPECT_TRUE(at::allclose(sum.to(at::kDouble), expected, 1e-5, type == at::kFloat ? 1e-4 : 1e-12));
    }
  }
}

TEST(PresentLefts, SumOverTheExamplesInWhichBothAreThere) {
  for (const int64_t examples : {1, 64, 128, 129, 300})
    for (const int64_t columns : {1, 4})
      for (const int64_t q : {16, 32, 48, 64, 144}) {
        expect_sums_over_examples<float>(at::kFloat, examples, columns, q);
        expect_sums_over_examples<double>(at::kDouble, examples, columns, q);
      }
}

TEST(PresentLefts, WhatIsNeverThereAddsNothing) {
  const at::Tensor rights = at::full({10, 16}, std::numeric_limits<double>::infinity(), at::kDouble);
  const PresentLefts<double> none(at::zeros({10, 1, 2}, at::kDouble)), all(at::ones({10, 1, 2}, at::kDouble));
  const at::Tensor sum = at::zeros({16}, at::kDouble);
  none.add_products(0, all, 1, 0, rights.data_ptr<double>(), 16, sum.data_ptr<double>());
  EXPECT_TRUE(sum.eq(0).all().item<bool>());
  EXPECT_EQ(none.share(), 0);
  EXPECT_EQ(all.share(), 1);
}

}  // namespace
}  // namespace ockham
