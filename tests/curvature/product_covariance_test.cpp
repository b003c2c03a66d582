#include "ockham/curvature/product_covariance.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

struct Sizes {
  int64_t outputs, rows, positions, columns;
};

/// H⁻¹ = (U_g ⊗ U_i) diag(v) (U_g ⊗ U_i)ᵀ as one matrix, and J as one.
at::Tensor by_dense_matrices(const at::Tensor& gradients, const at::Tensor& inputs, const ProductPosterior& posterior) {
  const auto matrix = [](const at::Tensor& basis, int64_t size) {
    if (!basis.defined()) return at::eye(size, at::kDouble);
    return basis.dim() == 1 ? at::diag(basis) : basis;
  };
  const at::Tensor vectors =
      at::kron(matrix(posterior.gradient_basis, gradients.size(2)), matrix(posterior.input_basis, inputs.size(2)));
  const at::Tensor inverse = (vectors * posterior.variance.reshape(-1)).mm(vectors.t());
  const at::Tensor jacobian = at::matmul(gradients, inputs.unsqueeze(1)).flatten(2);
  return at::matmul(at::matmul(jacobian, inverse), jacobian.transpose(1, 2));
}

TEST(ProductCovariance, EqualsDenseMatricesInEveryOrderOfWork) {
  at::Generator generator = random_stream({1});
  const auto normal = [&](std::vector<int64_t> shape) { return at::randn(shape, generator, at::kDouble); };
  // One position; fewer and more positions than C·dg and than di.
  for (const Sizes& sizes : {Sizes{3, 4, 1, 5}, Sizes{3, 4, 2, 5}, Sizes{3, 2, 7, 5}, Sizes{3, 2, 7, 8},
                             Sizes{2, 6, 7, 5}, Sizes{1, 1, 6, 2}}) {
    const at::Tensor gradients = normal({6, sizes.outputs, sizes.rows, sizes.positions});
    const at::Tensor inputs = normal({6, sizes.positions, sizes.columns});
    const at::Tensor variance = normal({sizes.rows, sizes.columns}).square();
    for (const at::Tensor& left : {at::Tensor(), normal({sizes.rows}), normal({sizes.rows, sizes.rows})}) {
      for (const at::Tensor& right : {at::Tensor(), normal({sizes.columns}), normal({sizes.columns, sizes.columns})}) {
        const ProductPosterior posterior{left, right, variance};
        const at::Tensor expected = by_dense_matrices(gradients, inputs, posterior);
        EXPECT_LT(testing::relative_difference(product_covariance(gradients, inputs, posterior), expected), 1e-12);
        const auto single = [](const at::Tensor& t) { return t.defined() ? t.to(at::kFloat) : t; };
        const ProductPosterior rounded{single(left), single(right), single(variance)};
        const at::Tensor found = product_covariance(single(gradients), single(inputs), rounded);
        EXPECT_EQ(found.scalar_type(), at::kDouble);
        EXPECT_LT(testing::relative_difference(found, expected), 1e-4);
      }
    }
  }
}

TEST(ProductChunk, CountsWhatIsMade) {
  const auto chunk = [](int64_t positions) {
    return product_chunk(at::zeros({1, 10, 128, positions}), at::zeros({1, positions, 864}));
  };
  EXPECT_GT(chunk(1), 1000);
  EXPECT_LT(chunk(2), 5);
  EXPECT_EQ(product_chunk(at::zeros({1, 10, 1024, 2}), at::zeros({1, 2, 4096})), 1);
}

}  // namespace
}  // namespace ockham
