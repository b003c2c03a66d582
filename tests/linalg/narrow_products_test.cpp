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
      add_narrow_product(square.data_ptr<float>(), left.data_ptr<float>(), right.data_ptr<float>(), rows, n, n + 5,
                         false);
      add_narrow_product(triangle.data_ptr<float>(), left.data_ptr<float>(), left.data_ptr<float>(), rows, n, n + 5,
                         true);
      const auto expected = [&](const at::Tensor& other) {
        return 1 + at::mm(left.t().to(at::kDouble), other.to(at::kDouble));
      };
      const double tolerance = 1e-6 * static_cast<double>(rows + 10);
      EXPECT_LT((square - expected(right)).abs().max().item<double>(), tolerance);
      EXPECT_LT((triangle - expected(left)).tril().abs().max().item<double>(), tolerance);
    }
  }
}

TEST(NarrowProducts, ManyRowsLoseNoDigits) {
  if (!narrow_product_pays(16, true)) GTEST_SKIP() << "this processor has no AVX-512; the BLAS does these products";
  const int64_t rows = 200000;
  const at::Tensor values = at::randn({rows, 16}, random_stream({4}), at::kFloat) + 1;
  at::Tensor sum = at::zeros({16, 16});
  add_narrow_product(sum.data_ptr<float>(), values.data_ptr<float>(), values.data_ptr<float>(), rows, 16, 16, true);
  const at::Tensor expected = at::mm(values.t().to(at::kDouble), values.to(at::kDouble));
  EXPECT_LT(((sum - expected) / expected).tril().abs().max().item<double>(), 3e-6);
}

TEST(NarrowProducts, AreForNarrowMatricesOfWholeVectors) {
  EXPECT_FALSE(narrow_product_pays(20, false));
  EXPECT_FALSE(narrow_product_pays(0, true));
  EXPECT_FALSE(narrow_product_pays(4096, true));
}

}  // namespace
}  // namespace ockham
