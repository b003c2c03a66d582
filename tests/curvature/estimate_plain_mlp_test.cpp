// The pass by hand equals the general one, for every structure, kind of curvature and likelihood.
#include "ockham/curvature/estimate_plain_mlp.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "tests/support/finite_differences.h"
#include "tests/support/likelihood_cases.h"

namespace ockham {
namespace {

using testing::likelihood_cases;
using testing::LikelihoodCase;
using testing::relative_difference;

std::vector<int64_t> sizes_of(const ParameterLayout& layout) {
  std::vector<int64_t> sizes;
  for (const ParameterSlot& slot : layout.slots()) sizes.push_back(slot.size);
  return sizes;
}

void expect_equal(const char* described, const LikelihoodCase& one, const CurvatureOptions& options,
                  at::ScalarType type, double tolerance) {
  SCOPED_TRACE(described);
  const int64_t examples = one.targets.size(0);
  const Network network = make_architecture(described, {3}, one.outputs, type, 1);
  const at::Tensor inputs = at::randn({examples, 3}, random_stream({6}), at::kDouble).to(type);
  const Dataset data(inputs, prepare_targets(one.likelihood, one.targets, one.outputs, type));
  Hyperparameters hyperparameters = default_likelihood_hyperparameters(one.likelihood, one.outputs);
  if (hyperparameters.log_noise.defined()) hyperparameters.log_noise.sub_(0.4);
  if (hyperparameters.log_temperature.defined()) hyperparameters.log_temperature.add_(0.3);
  const CurvatureEstimate general = estimate_curvature(network, one.likelihood, data, hyperparameters, options);

  PlainMlp mlp = *PlainMlp::recognise(network, inputs);
  const auto by_hand = estimate_plain_mlp(mlp, one.likelihood, data, hyperparameters, options);
  ASSERT_TRUE(by_hand.has_value());
  EXPECT_EQ(by_hand->outputs, general.outputs);
  ASSERT_EQ(by_hand->curvature.blocks.size(), general.curvature.blocks.size());
  for (size_t b = 0; b < general.curvature.blocks.size(); ++b)
    EXPECT_EQ(by_hand->curvature.blocks[b].index(), general.curvature.blocks[b].index());
  const std::vector<int64_t> sizes = sizes_of(network.layout());
  EXPECT_LT(relative_difference(dense(by_hand->curvature, sizes), dense(general.curvature, sizes)), tolerance);
  EXPECT_LT(relative_difference(by_hand->data_fit.evaluate(hyperparameters).log_likelihood,
                                general.data_fit.evaluate(hyperparameters).log_likelihood),
            tolerance);
  const HandmadePasses passes(network, inputs);
  const CurvatureEstimate chosen = estimate_curvature(network, one.likelihood, data, hyperparameters, options);
  EXPECT_TRUE(dense(chosen.curvature, sizes).equal(dense(by_hand->curvature, sizes)));
}

TEST(EstimatePlainMlp, EqualsTheGeneralPass) {
  for (const Structure structure : {Structure::full, Structure::kronecker, Structure::diagonal}) {
    for (const CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher, CurvatureKind::mc_fisher}) {
      for (const LikelihoodCase& one : likelihood_cases(17)) {
        SCOPED_TRACE(name_of(one.likelihood) + " " + std::to_string(static_cast<int>(structure)) +
                     std::to_string(static_cast<int>(kind)));
        CurvatureOptions options;
        options.structure = structure;
        options.kind = kind;
        options.mc_samples = 3;
        options.batch_size = 5;
        options.verify = false;
        for (const char* network : {"mlp:6-4,act=tanh", "mlp:6-4,act=relu"}) {
          options.dense_form = CurvatureOptions::DenseForm::automatic;
          expect_equal(network, one, options, at::kDouble, 1e-12);
          expect_equal(network, one, options, at::kFloat, 1e-4);
          if (structure != Structure::full) continue;
          for (const auto form : {CurvatureOptions::DenseForm::matrix, CurvatureOptions::DenseForm::rows}) {
            options.dense_form = form;
            expect_equal(network, one, options, at::kDouble, 1e-12);
          }
        }
      }
    }
  }
}

TEST(EstimatePlainMlp, LeavesWhatItHasNotToTheGeneralPass) {
  const LikelihoodCase one = likelihood_cases(9)[2];
  const Network network = make_architecture("mlp:6", {3}, 3, at::kDouble, 1);
  const Dataset data(at::randn({9, 3}, random_stream({6}), at::kDouble), one.targets);
  const Hyperparameters hyperparameters = default_likelihood_hyperparameters(one.likelihood, 3);
  PlainMlp mlp = *PlainMlp::recognise(network, data.inputs());
  const auto given = [&](const auto& change) {
    CurvatureOptions options;
    options.verify = false;
    change(options);
    return estimate_plain_mlp(mlp, one.likelihood, data, hyperparameters, options).has_value();
  };
  EXPECT_TRUE(given([](CurvatureOptions&) {}));
  EXPECT_FALSE(given([](CurvatureOptions& options) { options.verify = true; }));
  EXPECT_FALSE(given([](CurvatureOptions& options) { options.root_derivatives = true; }));
  EXPECT_FALSE(given([](CurvatureOptions& options) { options.likelihood_gradient = true; }));
  EXPECT_FALSE(given([](CurvatureOptions& options) { options.structure = Structure::block; }));
  EXPECT_FALSE(given([](CurvatureOptions& options) { options.observe.without_recognisers = {"linear"}; }));
}

}  // namespace
}  // namespace ockham
