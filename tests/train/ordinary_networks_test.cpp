// Networks that others made, with batch norm, attention, a class token and learned positions: their curvature against
// dense references, their evidence, and their training by it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "ockham/base/random.h"
#include "ockham/network/torchscript.h"
#include "ockham/train/train_online.h"
#include "tests/support/dense_reference.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"
#include "tests/support/ordinary_networks.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::relative_mismatch;

struct Ordinary {
  std::string name;
  void (*save)(const std::string&);
  std::set<std::string> kronecker;  // the weights that have factors; everything else has small exact blocks
  std::set<std::string> positions;  // biases of layers with positions: by the rule of `expand`, not exact
};

const std::vector<Ordinary>& ordinary_networks() {
  static const std::vector<Ordinary> all = {
      {"resnet",
       [](const std::string& path) { testing::save_batch_norm_resnet(path); },
       {"stem.weight", "conv1.weight", "conv2.weight", "shortcut.weight", "fc.weight"},
       {}},
      {"transformer",
       testing::save_vision_transformer,
       {"patch.weight", "in_proj.weight", "out_proj.weight", "mlp1.weight", "mlp2.weight", "head.weight"},
       {"patch.bias", "in_proj.bias", "out_proj.bias", "mlp1.bias", "mlp2.bias"}}};
  return all;
}

class OrdinaryNetworks : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    one().save(path());
    images_ = at::randn({12, 2, 6, 6}, random_stream({41}), at::kDouble);
    labels_ = at::arange(12).remainder(3);
  }
  const Ordinary& one() const { return ordinary_networks()[GetParam()]; }
  std::string path() const { return directory_.path(one().name + ".pt"); }
  Network network() const { return load_torchscript(path(), at::kDouble); }
  Dataset data() const { return Dataset(images_, labels_); }
  static std::vector<int64_t> sizes(const Network& network) {
    std::vector<int64_t> result;
    for (const ParameterSlot& slot : network.layout().slots()) result.push_back(slot.size);
    return result;
  }
  static Model model_of(const Network& network) {
    const Prior prior = Prior::layerwise(network.layout());
    Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, 3);
    values.log_prior_precision = 0.3 * at::randn({prior.size()}, random_stream({42}), at::kDouble);
    return {network, Categorical{}, prior, values};
  }

  testing::TemporaryDirectory directory_;
  at::Tensor images_, labels_;
};

TEST_P(OrdinaryNetworks, CurvatureEqualsTheDenseReference) {
  const Network net = network();
  const Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, 3);
  for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
    const at::Tensor full = testing::brute_force_curvature(net, images_, labels_, Categorical{}, values, kind);
    const auto estimate = [&](Structure structure) {
      CurvatureOptions options;
      options.structure = structure;
      options.kind = kind;
      options.batch_size = 5;
      return dense(estimate_curvature(net, Categorical{}, data(), values, options).curvature, sizes(net));
    };
    EXPECT_LT(relative_mismatch(estimate(Structure::full), full), 1e-10);
    EXPECT_LT(relative_mismatch(estimate(Structure::diagonal).diagonal(), full.diagonal()), 1e-10);
    const at::Tensor blocks = estimate(Structure::block), mixed = estimate(Structure::kronecker);
    for (const ParameterSlot& slot : net.layout().slots()) {
      const auto block = [&](const at::Tensor& t) {
        return t.narrow(0, slot.offset, slot.size).narrow(1, slot.offset, slot.size);
      };
      EXPECT_LT(relative_mismatch(block(blocks), block(full)), 1e-10) << slot.name;
      if (one().kronecker.count(slot.name) > 0 || one().positions.count(slot.name) > 0) continue;
      EXPECT_LT(relative_mismatch(block(mixed), block(full)), 1e-10) << slot.name;
    }
  }
}

TEST_P(OrdinaryNetworks, KroneckerFactorsWhereTheyApplyAndSmallBlocksElsewhere) {
  const Network net = network();
  const CurvatureEstimate estimate = estimate_curvature(
      net, Categorical{}, data(), default_likelihood_hyperparameters(Categorical{}, 3), CurvatureOptions());
  std::set<std::string> factored;
  for (const CurvatureBlock& block : estimate.curvature.blocks) {
    EXPECT_FALSE(std::holds_alternative<DiagonalBlock>(block));
    if (const auto* kronecker = std::get_if<KroneckerBlock>(&block))
      factored.insert(net.layout()[kronecker->parameter].name);
  }
  EXPECT_EQ(factored, one().kronecker);
  // Only the class token is used in a way that may need plain autograd; what needs it is named.
  for (const std::string& message : estimate.messages)
    EXPECT_NE(message.find("'class_token' [1, 1, 4]"), std::string::npos) << message;
}

TEST_P(OrdinaryNetworks, EvidenceIsThatOfItsDenseMatrix) {
  const Model model = model_of(network());
  for (Structure structure : {Structure::kronecker, Structure::diagonal, Structure::full}) {
    LaplaceOptions options;
    options.curvature.structure = structure;
    const LaplaceFit fit = fit_laplace(model, data(), options);
    const Evidence found = evidence(fit, model.hyperparameters);
    const at::Tensor precision = model.prior.expand(model.hyperparameters.log_prior_precision).exp();
    const at::Tensor hessian = dense(fit.curvature.curvature(), sizes(model.network)) + at::diag(precision);
    const double log_det = std::get<1>(at::linalg_slogdet(hessian)).item<double>();
    const at::Tensor theta = model.network.flat_parameters();
    const double log_likelihood =
        -at::cross_entropy_loss(model.network.forward(images_), labels_, {}, at::Reduction::Sum).item<double>();
    // log N(θ | 0, 1/δ) + (P/2) log 2π
    const double log_prior = 0.5 * (precision.log() - precision * theta.square()).sum().item<double>();
    EXPECT_NEAR(found.log_det, log_det, 1e-8);
    EXPECT_NEAR(found.value, log_likelihood + log_prior - 0.5 * log_det, 1e-8);
  }
}

TEST_P(OrdinaryNetworks, TrainByTheEvidence) {
  const Network net = network();
  const at::Tensor before = net.flat_parameters(), outputs = net.forward(images_).detach();
  OnlineOptions options;
  options.epochs = 12;
  options.frequency = 3;
  options.hyper.steps = 10;
  options.optimiser.learning_rate = 0.01;
  options.map.batch_size = 5;
  const OnlineResult result = train_online(model_of(net), data(), options);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.failure, "");
  ASSERT_EQ(result.state.passes.size(), 4u);
  EXPECT_GT(result.best.log_evidence, result.state.passes[0].evidences[0]);
  EXPECT_LT(result.state.losses.back(), result.state.losses.front());
  EXPECT_FALSE(net.flat_parameters().equal(before));
  // With the weights as they were, so are the outputs: nothing else, such as a running statistic, has moved.
  net.set_flat_parameters(before);
  EXPECT_TRUE(net.forward(images_).equal(outputs));
}

INSTANTIATE_TEST_SUITE_P(Each, OrdinaryNetworks, ::testing::Values(0, 1),
                         [](const auto& info) { return ordinary_networks()[info.param].name; });

TEST(BatchNormInTrainingMode, IsRefusedByNameOfTheCure) {
  const testing::TemporaryDirectory directory;
  testing::save_batch_norm_resnet(directory.path("training.pt"), /*training=*/true);
  const Network network = load_torchscript(directory.path("training.pt"), at::kDouble);
  const Prior prior = Prior::scalar(network.layout());
  Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, 3);
  values.log_prior_precision = at::zeros({1}, at::kDouble);
  const Dataset data(at::randn({6, 2, 6, 6}, random_stream({1}), at::kDouble), at::arange(6).remainder(3));
  OnlineOptions options;
  options.epochs = 1;
  testing::expect_error(ErrorKind::data, {"batch norm", "eval()"}, [&] {
    train_online({network, Categorical{}, prior, values}, data, options);
  });
}

}  // namespace
}  // namespace ockham
