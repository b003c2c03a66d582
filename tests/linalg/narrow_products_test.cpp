#include "ockham/linalg/narrow_products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"

namespace ockham {
namespace {

TEST(NarrowProducts, EqualMatrixProducts) {
  if (!narrow_product_pays(16, false)) GTEST_SKIP() << "this processor has no AVX-512; the BLAS does these products";
  for (const int64_t n : {16, 32, 48, 64, 96, 144}) {
    for (const int64_t rows : {1, 7, 100, 1000}) {
      SCOPED_TRACE(n);
      // Part of wider matrices, as channels of an image are.
      const at::Tensor both = at::randn({2, rows, n + 5}, random_stream({3}), at::kFloat);
      const at::Tensor left = both[0].narrow(1, 0, n), right = both[1].narrow(1, 0, n);
      at::Tensor square = at::ones({n, n}), triangle = at::ones({n, n});
      const float *a = left.data_ptr<float>(), *b = right.data_ptr<float>();
      add_narrow_product(square.data_ptr<float>(), {a, n + 5, b, n + 5, rows}, n, false);
      add_narrow_product(triangle.data_ptr<float>(), {a, n + 5, a, n + 5, rows}, n, true);
      const auto expected = [&](const at::Tensor& other) {
        return 1 + at::mm(left.t().to(at::kDouble), other.to(at::kDouble));
      };
      const double tolerance = 1e-6 * static_cast<double>(rows + 10);
      EXPECT_LT((square - expected(right)).abs().max().item<double>(), tolerance);
      EXPECT_LT((triangle - expected(left)).tril().abs().max().item<double>(), tolerance);
      EXPECT_TRUE(triangle.triu(1).equal(at::ones({n, n}).triu(1)));
    }
  }
}

TEST(NarrowProducts, ManyRowsLoseNoDigits) {
  if (!narrow_product_pays(16, true)) GTEST_SKIP() << "this processor has no AVX-512; the BLAS does these products";
  const int64_t rows = 200000;
  const at::Tensor values = at::randn({rows, 16}, random_stream({4}), at::kFloat) + 1;
  at::Tensor sum = at::zeros({16, 16});
  const float* a = values.data_ptr<float>();
  add_narrow_product(sum.data_ptr<float>(), {a, 16, a, 16, rows}, 16, true);
  const at::Tensor expected = at::mm(values.t().to(at::kDouble), values.to(at::kDouble));
  EXPECT_LT(((sum - expected) / expected).tril().abs().max().item<double>(), 3e-6);
}

TEST(NarrowProducts, StacksEqualMatrixProductsAndTheirSquares) {
  if (!has_stacked_product(8, 16)) GTEST_SKIP() << "this processor has no AVX-512; the BLAS does these products";
  for (const int64_t p : {8, 24, 96}) {
    for (const int64_t q : {16, 32, 48, 80, 192}) {
      const int64_t rows = 50;
      const at::Tensor left = at::randn({rows, p}, random_stream({5}), at::kFloat);
      const at::Tensor right = at::randn({rows, q}, random_stream({6}), at::kFloat);
      at::Tensor sum = at::ones({p, q + 3});
      // 5 pieces of 10 rows.
      add_squared_product(sum.data_ptr<float>(), q + 3,
                          {{left.data_ptr<float>(), p, right.data_ptr<float>(), q, rows / 5}, 5, 10 * p, 10 * q}, p, q);
      const at::Tensor expected = 1 + at::mm(left.t().to(at::kDouble), right.to(at::kDouble)).square();
      EXPECT_LT((sum.narrow(1, 0, q) - expected).abs().max().item<double>(), 1e-3);
      EXPECT_TRUE(sum.narrow(1, q, 3).equal(at::ones({p, 3})));
      at::Tensor plain = at::ones({p, q});
      add_stacked_product(plain.data_ptr<float>(), q,
                          {{left.data_ptr<float>(), p, right.data_ptr<float>(), q, rows / 5}, 5, 10 * p, 10 * q}, p, q);
      EXPECT_LT((plain - 1 - at::mm(left.t(), right)).abs().max().item<double>(), 1e-4);
    }
  }
  EXPECT_FALSE(has_stacked_product(9, 16));
  EXPECT_FALSE(has_stacked_product(8, 20));
}

TEST(NarrowProducts, AreForNarrowMatricesOfWholeVectors) {
  EXPECT_FALSE(narrow_product_pays(20, false));
  EXPECT_FALSE(narrow_product_pays(0, true));
  EXPECT_FALSE(narrow_product_pays(4096, true));
}

}  // namespace
}  // namespace ockham
