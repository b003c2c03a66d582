#include "ockham/curvature/estimate_curvature.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "tests/support/dense_reference.h"
#include "tests/support/finite_differences.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

using testing::relative_mismatch;

constexpr double kExact = 1e-11;

std::vector<int64_t> sizes(const Network& network) {
  std::vector<int64_t> result;
  for (const ParameterSlot& slot : network.layout().slots()) result.push_back(slot.size);
  return result;
}

at::Tensor targets_for(const Likelihood& likelihood, int64_t examples) {
  const at::Generator generator = random_stream({11});
  if (std::holds_alternative<Categorical>(likelihood)) return at::randint(0, 3, {examples}, generator, at::kLong);
  return at::randn({examples, 3}, generator, at::kDouble);
}

Hyperparameters hyperparameters_for(const Likelihood& likelihood) {
  Hyperparameters hyperparameters = default_likelihood_hyperparameters(likelihood, 3);
  if (hyperparameters.log_temperature.numel() > 0) hyperparameters.log_temperature.fill_(0.3);
  return hyperparameters;
}

at::Tensor estimated(const testing::ZooNetwork& zoo, const Likelihood& likelihood, const CurvatureOptions& options) {
  const Dataset data(zoo.inputs, targets_for(likelihood, zoo.inputs.size(0)));
  const auto estimate = estimate_curvature(zoo.network, likelihood, data, hyperparameters_for(likelihood), options);
  return dense(estimate.curvature, sizes(zoo.network));
}

at::Tensor reference(const testing::ZooNetwork& zoo, const Likelihood& likelihood, CurvatureKind kind) {
  return testing::brute_force_curvature(zoo.network, zoo.inputs, targets_for(likelihood, zoo.inputs.size(0)),
                                        likelihood, hyperparameters_for(likelihood), kind);
}

// Zeroes what a structure leaves out.
at::Tensor restricted(const at::Tensor& full, const Network& network, Structure structure) {
  if (structure == Structure::full) return full;
  if (structure == Structure::diagonal) return at::diag(at::diagonal(full));
  at::Tensor blocks = at::zeros_like(full);
  for (const ParameterSlot& slot : network.layout().slots()) {
    const auto block = [&](const at::Tensor& t) {
      return t.narrow(0, slot.offset, slot.size).narrow(1, slot.offset, slot.size);
    };
    block(blocks).copy_(block(full));
  }
  return blocks;
}

TEST(EstimateCurvature, ExactStructuresEqualTheDenseReference) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    for (const Likelihood& likelihood : {Likelihood(Gaussian{}), Likelihood(Categorical{})}) {
      for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
        const at::Tensor full = reference(zoo, likelihood, kind);
        for (Structure structure : {Structure::full, Structure::block, Structure::diagonal}) {
          SCOPED_TRACE(zoo.name + " " + name_of(likelihood) + " structure " +
                       std::to_string(static_cast<int>(structure)));
          CurvatureOptions options;
          options.structure = structure;
          options.kind = kind;
          options.batch_size = 2;
          EXPECT_LT(relative_mismatch(estimated(zoo, likelihood, options), restricted(full, zoo.network, structure)),
                    kExact);
        }
      }
    }
  }
}

TEST(EstimateCurvature, MatrixAndRowFormAgree) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    CurvatureOptions options;
    options.structure = Structure::full;
    options.batch_size = 3;
    options.dense_form = CurvatureOptions::DenseForm::matrix;
    const at::Tensor matrix = estimated(zoo, Categorical{}, options);
    options.dense_form = CurvatureOptions::DenseForm::rows;
    EXPECT_LT(relative_mismatch(estimated(zoo, Categorical{}, options), matrix), kExact);
  }
}

TEST(EstimateCurvature, StaysEqualWithoutEachRecogniser) {
  for (const char* recogniser : {"linear", "convolution", "elementwise", "normalisation", "embedding"}) {
    for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
      const at::Tensor full = reference(zoo, Categorical{}, CurvatureKind::ggn);
      for (Structure structure : {Structure::full, Structure::block, Structure::diagonal}) {
        SCOPED_TRACE(zoo.name + " without " + recogniser);
        CurvatureOptions options;
        options.structure = structure;
        options.observe.without_recognisers = {recogniser};
        EXPECT_LT(relative_mismatch(estimated(zoo, Categorical{}, options), restricted(full, zoo.network, structure)),
                  kExact);
      }
    }
  }
}

TEST(EstimateCurvature, KroneckerNamesWhatItCannotFactorAndKeepsItExact) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    for (const char* without : {"", "linear", "convolution", "elementwise", "normalisation", "embedding"}) {
      SCOPED_TRACE(zoo.name + " without " + without);
      const Dataset data(zoo.inputs, targets_for(Categorical{}, 5));
      CurvatureOptions options;
      if (*without != 0) options.observe.without_recognisers = {without};
      const auto estimate =
          estimate_curvature(zoo.network, Categorical{}, data, hyperparameters_for(Categorical{}), options);
      const at::Tensor full = reference(zoo, Categorical{}, CurvatureKind::ggn);
      std::string all_messages;
      for (const std::string& message : estimate.messages) all_messages += message + "\n";
      const Observation observation = observe_forward(zoo.network, zoo.inputs, options.observe);
      for (size_t index : observation.unexplained_parameters()) {
        const ParameterSlot& slot = zoo.network.layout()[index];
        EXPECT_NE(all_messages.find("'" + slot.name + "'"), std::string::npos) << slot.name << " in: " << all_messages;
        const auto block = [&](const at::Tensor& t) {
          return t.narrow(0, slot.offset, slot.size).narrow(1, slot.offset, slot.size);
        };
        EXPECT_LT(relative_mismatch(block(dense(estimate.curvature, sizes(zoo.network))), block(full)), kExact)
            << slot.name;
      }
    }
  }
}

TEST(EstimateCurvature, LargeUnexplainedParametersBecomeADiagonalInTheKroneckerStructure) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    if (zoo.unexplained.empty()) continue;
    SCOPED_TRACE(zoo.name);
    const Dataset data(zoo.inputs, targets_for(Categorical{}, 5));
    CurvatureOptions options;
    options.largest_exact_block = 1;
    const auto estimate =
        estimate_curvature(zoo.network, Categorical{}, data, hyperparameters_for(Categorical{}), options);
    const at::Tensor full = reference(zoo, Categorical{}, CurvatureKind::ggn);
    const ParameterSlot& slot = zoo.network.layout()[zoo.network.layout().index_of(zoo.unexplained[0])];
    const at::Tensor diagonal =
        at::diagonal(dense(estimate.curvature, sizes(zoo.network))).narrow(0, slot.offset, slot.size);
    EXPECT_LT(relative_mismatch(diagonal, at::diagonal(full).narrow(0, slot.offset, slot.size)), kExact);
    ASSERT_FALSE(estimate.messages.empty());
    EXPECT_NE(estimate.messages[0].find("diagonal"), std::string::npos) << estimate.messages[0];
  }
}

TEST(EstimateCurvature, SingleLinearLayerWithGaussianLikelihoodIsExactInTheKroneckerStructure) {
  const at::Generator generator = random_stream({3});
  const at::Tensor weight = at::randn({3, 4}, generator, at::kDouble).requires_grad_();
  const at::Tensor bias = at::randn({3}, generator, at::kDouble).requires_grad_();
  const testing::ZooNetwork zoo{
      "linear",
      Network({{"w", weight}, {"b", bias}}, [=](const at::Tensor& x) { return at::linear(x, weight, bias); }),
      at::randn({20, 4}, generator, at::kDouble),
      {}};
  CurvatureOptions options;
  const at::Tensor full = reference(zoo, Gaussian{}, CurvatureKind::ggn);
  EXPECT_LT(relative_mismatch(estimated(zoo, Gaussian{}, options), restricted(full, zoo.network, Structure::block)),
            kExact);
}

TEST(EstimateCurvature, DoesNotDependOnTheBatches) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    for (KroneckerRule rule : {KroneckerRule::expand, KroneckerRule::reduce, KroneckerRule::paper}) {
      SCOPED_TRACE(zoo.name);
      CurvatureOptions options;
      options.kronecker_rule = rule;
      options.batch_size = 5;
      const at::Tensor whole = estimated(zoo, Categorical{}, options);
      options.batch_size = 2;
      EXPECT_LT(relative_mismatch(estimated(zoo, Categorical{}, options), whole), kExact);
    }
  }
}

TEST(EstimateCurvature, SaysBeforehandWhetherItFits) {
  const testing::ZooNetwork zoo = testing::layer_zoo().front();
  const Dataset data(zoo.inputs, targets_for(Categorical{}, zoo.inputs.size(0)));
  for (const Structure structure : {Structure::full, Structure::kronecker}) {
    CurvatureOptions options;
    options.structure = structure;
    EXPECT_NO_THROW(expect_curvature_fits(zoo.network, Categorical{}, data, options));
    options.memory_budget = 10;
    std::string before, then;
    try {
      expect_curvature_fits(zoo.network, Categorical{}, data, options);
    } catch (const Error& error) {
      before = error.what();
    }
    try {
      estimated(zoo, Categorical{}, options);
    } catch (const Error& error) {
      then = error.what();
    }
    EXPECT_NE(before, "");
    EXPECT_EQ(before, then);
  }
}

}  // namespace
}  // namespace ockham
