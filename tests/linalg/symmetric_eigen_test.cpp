#include "ockham/linalg/symmetric_eigen.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

at::Tensor symmetric_matrix(int64_t n, at::ScalarType type = at::kDouble) {
  const at::Tensor matrix = at::randn({n, n}, type);
  return matrix + matrix.t();
}

TEST(SymmetricEigen, RebuildsEveryMatrixInInputOrder) {
  const int before = available_cpus();
  for (int threads : {1, 2, 4}) {
    set_threads(threads);
    std::vector<at::Tensor> matrices;
    for (int64_t n : {3, 50, 1, 20, 50, 7, 120}) matrices.push_back(symmetric_matrix(n));
    const auto results = symmetric_eigen(matrices, true);
    ASSERT_EQ(results.size(), matrices.size());
    for (size_t i = 0; i < matrices.size(); ++i) {
      const auto& [values, vectors] = results[i];
      EXPECT_LT((at::mm(vectors * values, vectors.t()) - matrices[i]).abs().max().item<double>(), 1e-12);
      EXPECT_TRUE((values.diff() >= 0).all().item<bool>());
    }
  }
  set_threads(before);
}

TEST(SymmetricEigen, GivesValuesOnlyWhenAsked) {
  const std::vector<at::Tensor> matrices = {symmetric_matrix(30), symmetric_matrix(300)};
  const auto with = symmetric_eigen(matrices, true), without = symmetric_eigen(matrices, false);
  for (size_t i = 0; i < matrices.size(); ++i) {
    EXPECT_FALSE(without[i].vectors.defined());
    EXPECT_TRUE(at::allclose(with[i].values, without[i].values, 1e-12, 1e-11));
  }
}

TEST(SymmetricEigen, WorksInDoubleForOneLargeMatrixAndForNone) {
  EXPECT_TRUE(symmetric_eigen({}, true).empty());
  const at::Tensor large = symmetric_matrix(280, at::kFloat);
  const auto results = symmetric_eigen({large}, true);
  EXPECT_EQ(results[0].values.scalar_type(), at::kDouble);
  EXPECT_NEAR(results[0].values.sum().item<double>(), large.to(at::kDouble).trace().item<double>(), 1e-9);
}

TEST(SymmetricEigen, RefusesWhatIsNotFinite) {
  at::Tensor bad = symmetric_matrix(4);
  bad[1][2] = std::numeric_limits<double>::quiet_NaN();
  try {
    symmetric_eigen({symmetric_matrix(3), bad}, true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numerical);
    EXPECT_NE(std::string(error.what()).find("matrix 1 [4, 4]"), std::string::npos) << error.what();
  }
}

TEST(ClipNegative, ZeroesAllAndCountsOnlyWhatIsNoRoundOff) {
  at::Tensor values = at::tensor({-1e-3, -1e-15, 0.0, 2.0}, at::kDouble);
  EXPECT_EQ(clip_negative(values), 1);
  EXPECT_TRUE(at::equal(values, at::tensor({0.0, 0.0, 0.0, 2.0}, at::kDouble)));
  at::Tensor negative = at::tensor({-2.0, -1.0}, at::kDouble), none = at::zeros({0}, at::kDouble);
  EXPECT_EQ(clip_negative(negative), 2);
  EXPECT_EQ(clip_negative(none), 0);
}

// What is drawn in the eigenbasis, probes and samples, would otherwise change with the last digits of a matrix.
TEST(SymmetricEigen, TheSignsOfVectorsAreFixed) {
  const at::Generator generator = random_stream({77});
  for (const int64_t size : {1, 2, 7, 40}) {
    const at::Tensor root = at::randn({size + 2, size}, generator, at::kDouble), matrix = root.t().mm(root);
    const SymmetricEigen eigen = symmetric_eigen({matrix}, true)[0];
    const at::Tensor rebuilt = (eigen.vectors * eigen.values).mm(eigen.vectors.t());
    EXPECT_LT((rebuilt - matrix).abs().max().item<double>(), 1e-12 * matrix.abs().max().item<double>() * size);
    for (int64_t k = 0; k < size; ++k) {
      double product = 0;
      for (int64_t i = 0; i < size; ++i)
        product += (0.5 + std::fmod(0.6180339887498949 * (i + 1), 1.0)) * eigen.vectors[i][k].item<double>();
      EXPECT_GE(product, 0) << "size " << size << ", vector " << k;
    }
  }
}

}  // namespace
}  // namespace ockham
