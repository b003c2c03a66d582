#include "ockham/curvature/folded_columns.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/curvature/estimate_curvature.h"
#include "tests/support/finite_differences.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

using testing::relative_mismatch;

constexpr int64_t kExamples = 30, kOutputs = 6;

at::Tensor some_outputs() { return 2 * at::randn({kExamples, kOutputs}, random_stream({3}), at::kDouble); }

std::vector<Likelihood> likelihoods() { return {Categorical{}, Poisson{}, Gaussian{}, Gaussian{true}}; }

Hyperparameters hyperparameters_for(const Likelihood& likelihood) {
  Hyperparameters values = default_likelihood_hyperparameters(likelihood, kOutputs);
  if (values.log_temperature.numel() > 0) values.log_temperature.fill_(0.3);
  if (values.log_noise.numel() > 1) values.log_noise.copy_(at::linspace(-1, 1, kOutputs, at::kDouble));
  return values;
}

OutputRoot plain_root(const Likelihood& likelihood) {
  RootOptions options;
  options.derivatives = true;
  return output_root(likelihood, some_outputs(), {}, hyperparameters_for(likelihood), options, {});
}

OutputRoot sorted_root(const Likelihood& likelihood) {
  return root_by_weight(likelihood, some_outputs(), hyperparameters_for(likelihood), true);
}

at::Tensor outer(const at::Tensor& root) { return root.matmul(root.transpose(1, 2)); }

at::Tensor square_derivative(const OutputRoot& root, size_t which) {
  const at::Tensor product = root.root.matmul(root.derivatives[which].transpose(1, 2));
  return product + product.transpose(1, 2);
}

TEST(FoldedColumns, SortingChangesNeitherTheCurvatureNorItsDerivatives) {
  for (const Likelihood& likelihood : likelihoods()) {
    SCOPED_TRACE(name_of(likelihood));
    const OutputRoot plain = plain_root(likelihood), sorted = sorted_root(likelihood);
    EXPECT_LT(relative_mismatch(outer(sorted.root), outer(plain.root)), 1e-12);
    ASSERT_EQ(sorted.derivatives.size(), plain.derivatives.size());
    for (size_t m = 0; m < plain.derivatives.size(); ++m)
      EXPECT_LT(relative_mismatch(square_derivative(sorted, m), square_derivative(plain, m)), 1e-12);
    const at::Tensor weights = column_weights(sorted.root);
    EXPECT_TRUE((weights.diff(1, 1) <= 0).all().item<bool>());
  }
}

TEST(FoldedColumns, ASoftmaxHasItsWeightInTheFirstColumns) {
  const auto share = [](const at::Tensor& weights) {
    return (weights.narrow(1, 0, 2).sum() / weights.sum()).item<double>();
  };
  const at::Tensor in_class_order = std::get<0>(column_weights(plain_root(Categorical{}).root).sort(1, true));
  EXPECT_GT(share(column_weights(sorted_root(Categorical{}).root)), share(in_class_order));
}

/// The mean of ‖Σ_n (Λ̂_n − Λ_n)‖² over draws, by its terms: examples are independent.
double mean_square_error(const OutputRoot& root, const at::Tensor& columns) {
  constexpr int kDraws = 60;
  double sum = 0;
  const at::Generator generator = random_stream({5});
  for (int draw = 0; draw < kDraws; ++draw) {
    at::Tensor error = at::zeros({kOutputs, kOutputs}, at::kDouble);
    for (int64_t n = 0; n < kExamples; ++n) {
      const OutputRoot one{root.root.narrow(0, n, 1), {}};
      error += outer(fold_columns(one, columns[n].item<int64_t>(), generator).root)[0] - outer(one.root)[0];
    }
    sum += error.square().sum().item<double>();
  }
  return sum / kDraws;
}

TEST(FoldedColumns, TheStatedErrorIsTheMeanOverDraws) {
  for (const Likelihood& likelihood : likelihoods()) {
    const OutputRoot root = sorted_root(likelihood);
    const FoldingErrors errors = folding_errors(root.root);
    for (size_t i = 0; i < errors.counts.size(); ++i) {
      SCOPED_TRACE(name_of(likelihood) + " " + std::to_string(errors.counts[i]));
      const double stated = errors.mean_squares.select(1, static_cast<int64_t>(i)).sum().item<double>();
      const double seen = mean_square_error(root, at::full({kExamples}, errors.counts[i], at::kLong));
      EXPECT_NEAR(seen, stated, 0.35 * stated);
    }
  }
}

TEST(FoldedColumns, TheErrorStaysWithinTheTolerance) {
  for (const Likelihood& likelihood : likelihoods()) {
    const OutputRoot root = sorted_root(likelihood);
    const FoldingErrors errors = folding_errors(root.root);
    EXPECT_NEAR(errors.trace, column_weights(root.root).sum().item<double>(), 1e-9 * errors.trace);
    int64_t columns_before = kExamples * kOutputs;
    for (double tolerance : {0.01, 0.05, 0.3}) {
      SCOPED_TRACE(name_of(likelihood) + " " + std::to_string(tolerance));
      const at::Tensor columns = columns_to_send(errors, tolerance);
      const at::Tensor place = columns.unsqueeze(1).eq(at::tensor(errors.counts)).to(at::kDouble);
      EXPECT_LE((place * errors.mean_squares).sum().item<double>(), std::pow(tolerance * errors.trace, 2));
      EXPECT_LE(columns.sum().item<int64_t>(), columns_before);
      columns_before = columns.sum().item<int64_t>();
    }
    EXPECT_LT(columns_before, 2 * kExamples) << "a third of the trace needs hardly more than a column each";
  }
}

// Of weights 4, 3, 2, 1 two groups of 5 have the pairs 4·1 and 3·2; three columns as they are and the rest folded into
// one would be the other way to halve them.
TEST(FoldedColumns, GroupsAreBalanced) {
  const at::Tensor root = at::diag(at::tensor({4.0, 3.0, 2.0, 1.0}, at::kDouble).sqrt()).unsqueeze(0);
  const FoldingErrors errors = folding_errors(root);
  EXPECT_EQ(errors.counts, (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_LT(relative_mismatch(errors.mean_squares[0], at::tensor({70.0, 20.0, 4.0, 0.0}, at::kDouble)), 1e-12);
}

TEST(FoldedColumns, WithoutToleranceNothingIsFolded) {
  for (const Likelihood& likelihood : likelihoods()) {
    const OutputRoot root = sorted_root(likelihood);
    const int64_t columns = root.root.size(2);
    EXPECT_EQ(columns_to_send(folding_errors(root.root), 0).min().item<int64_t>(), columns);
    EXPECT_TRUE(at::equal(fold_columns(root, columns, random_stream({1})).root, root.root));
  }
}

TEST(FoldedColumns, ColumnsThatWeighNothingAreNotSent) {
  const at::Tensor weights = at::tensor({4.0, 1.0, 0.0, 2.0, 0.0, 0.0}, at::kDouble).view({2, 3});
  const FoldingErrors errors = folding_errors(at::diag_embed(weights.sqrt()));
  EXPECT_TRUE(at::equal(columns_to_send(errors, 0), at::tensor({2, 1}, at::kLong)));
}

TEST(FoldedColumns, OfManyColumnsOnlySomeCountsAreOffered) {
  const FoldingErrors errors = folding_errors(at::randn({2, 100, 99}, random_stream({8}), at::kDouble));
  EXPECT_LT(errors.counts.size(), 25u);
  EXPECT_EQ(errors.counts.back(), 99);
}

// The general passes, whole: nothing by hand, and in batches that mix what is kept.
Curvature curvature_of(const testing::ZooNetwork& zoo, Structure structure, double tolerance, uint64_t seed = 0) {
  CurvatureOptions options;
  options.structure = structure;
  options.ggn_tolerance = tolerance;
  options.seed = seed;
  options.batch_size = 2;
  options.root_derivatives = true;
  const Dataset data(zoo.inputs, at::randint(0, 3, {zoo.inputs.size(0)}, random_stream({11}), at::kLong));
  return estimate_curvature(zoo.network, Categorical{}, data, default_likelihood_hyperparameters(Categorical{}, 3),
                            options)
      .curvature;
}

at::Tensor dense_of(const testing::ZooNetwork& zoo, const Curvature& curvature) {
  std::vector<int64_t> sizes;
  for (const ParameterSlot& slot : zoo.network.layout().slots()) sizes.push_back(slot.size);
  return dense(curvature, sizes);
}

TEST(FoldedColumns, APassWithinATinyToleranceIsTheExactOne) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    for (Structure structure : {Structure::kronecker, Structure::diagonal}) {
      SCOPED_TRACE(zoo.name);
      EXPECT_LT(relative_mismatch(dense_of(zoo, curvature_of(zoo, structure, 1e-12)),
                                  dense_of(zoo, curvature_of(zoo, structure, 0))),
                1e-10);
    }
  }
}

TEST(FoldedColumns, TheMeanOverSeedsIsTheExactCurvature) {
  const testing::ZooNetwork zoo = testing::layer_zoo().front();
  for (Structure structure : {Structure::kronecker, Structure::diagonal}) {
    const at::Tensor exact = dense_of(zoo, curvature_of(zoo, structure, 0));
    constexpr int kSeeds = 300;
    std::vector<at::Tensor> draws;
    for (uint64_t seed = 0; seed < kSeeds; ++seed)
      draws.push_back(dense_of(zoo, curvature_of(zoo, structure, 1, seed)));
    const at::Tensor all = at::stack(draws);
    EXPECT_GT(relative_mismatch(draws[0], exact), 1e-3) << "nothing was folded";
    const at::Tensor error = all.std(0) / std::sqrt(static_cast<double>(kSeeds));
    const at::Tensor scale = error + 1e-9 * exact.abs().max();
    EXPECT_LT(((all.mean(0) - exact).abs() / scale).max().item<double>(), 5.0);
  }
}

}  // namespace
}  // namespace ockham
