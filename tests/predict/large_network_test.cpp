// The linearised predictive of convolutional networks: from layer calls, in float32, and of the last layer alone.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/curvature/jacobian.h"
#include "ockham/evidence/curvature_at.h"
#include "ockham/network/architectures.h"
#include "ockham/network/torchscript.h"
#include "ockham/predict/linearised.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"
#include "tests/support/ordinary_networks.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::relative_difference;

constexpr int64_t kClasses = 4;

struct Trained {
  Network network;
  Hyperparameters values;
  LaplaceFit fit;
  at::Tensor images;
};

Trained fitted(const Network& network, std::vector<int64_t> shape, Structure structure) {
  shape.insert(shape.begin(), 11);
  const at::Tensor images = at::randn(shape, random_stream({3}), at::kDouble).to(network.dtype());
  const int64_t classes = network.forward(images).size(1);
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, classes);
  values.log_prior_precision = 0.5 * at::randn({prior.size()}, random_stream({4}), at::kDouble);
  LaplaceOptions options;
  options.curvature.structure = structure;
  const Dataset data(images, at::arange(11).remainder(classes));
  return {network, values, fit_laplace({network, Categorical{}, prior, values}, data, options), images};
}

Trained trained(const std::string& spec, const std::vector<int64_t>& shape, at::ScalarType dtype, Structure structure) {
  const Network network = make_architecture(spec, shape, kClasses, dtype, 1);
  const at::Tensor theta = network.flat_parameters();
  network.set_flat_parameters(theta + 0.05 * at::randn(theta.sizes(), random_stream({2}), at::kDouble));
  return fitted(network, shape, structure);
}

at::Tensor by_jacobian(const Trained& model) {
  const CurvatureAt at = curvature_at(model.fit, model.values);
  return at.curvature.output_covariance(at.point, jacobian(model.network, model.images).jacobian.to(at::kDouble));
}

TEST(LargeNetworkPredictive, EqualsTheOneByJacobiansForEveryArchitecture) {
  for (const char* spec : {"linear", "mlp:7-5", "cnn:width=3,depth=3", "resnet:depth=8,width=3"}) {
    for (Structure structure : {Structure::kronecker, Structure::diagonal, Structure::block}) {
      SCOPED_TRACE(std::string(spec) + " structure " + std::to_string(static_cast<int>(structure)));
      const Trained model = trained(spec, {2, 8, 8}, at::kDouble, structure);
      const at::Tensor expected = by_jacobian(model);
      FunctionOptions options;
      options.batch_size = 4;
      const auto found = predict_function(model.network, model.fit, model.values, model.images, options);
      EXPECT_LT(relative_difference(found.covariance, expected), 1e-10);
      EXPECT_LT(relative_difference(found.mean, model.network.forward(model.images)), 1e-12);
    }
  }
}

TEST(LargeNetworkPredictive, OfNetworksThatOthersMade) {
  const testing::TemporaryDirectory directory;
  testing::save_batch_norm_resnet(directory.path("resnet.pt"));
  testing::save_vision_transformer(directory.path("transformer.pt"));
  for (const char* file : {"resnet.pt", "transformer.pt"}) {
    for (Structure structure : {Structure::kronecker, Structure::diagonal}) {
      SCOPED_TRACE(file);
      const Network network = load_torchscript(directory.path(file), at::kDouble);
      const Trained model = fitted(network, {2, 6, 6}, structure);
      const auto found = predict_function(model.network, model.fit, model.values, model.images);
      EXPECT_LT(relative_difference(found.covariance, by_jacobian(model)), 1e-10);
    }
  }
}

TEST(LargeNetworkPredictive, Float32IsCloseToFloat64) {
  for (Structure structure : {Structure::kronecker, Structure::diagonal}) {
    // Above 2^16 weights products stay in float32.
    const Trained model = trained("cnn:3c3d", {1, 10, 10}, at::kFloat, structure);
    ASSERT_GT(model.network.layout().total(), 1 << 16);
    const auto found = predict_function(model.network, model.fit, model.values, model.images);
    EXPECT_EQ(found.covariance.scalar_type(), at::kDouble);
    EXPECT_LT(relative_difference(found.covariance, by_jacobian(model)), 1e-5);
  }
}

TEST(LargeNetworkPredictive, ASmallBudgetMakesSmallBatchesAndProgressIsTold) {
  const Trained model = trained("resnet:depth=8,width=3", {2, 8, 8}, at::kDouble, Structure::kronecker);
  const auto whole = predict_function(model.network, model.fit, model.values, model.images);
  FunctionOptions options;
  options.memory_budget = 1;
  std::vector<int64_t> done;
  options.progress = [&](int64_t examples) { done.push_back(examples); };
  const auto found = predict_function(model.network, model.fit, model.values, model.images, options);
  EXPECT_EQ(done, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_LT(relative_difference(found.covariance, whole.covariance), 1e-12);
  options.progress = [](int64_t) { throw Error(ErrorKind::failure, "stopped"); };
  testing::expect_error(ErrorKind::failure, {"stopped"},
                        [&] { predict_function(model.network, model.fit, model.values, model.images, options); });
}

/// J_L (H_LL)⁻¹ J_Lᵀ with L the class layer, from dense matrices.
at::Tensor by_dense_last_layer(const Trained& model) {
  std::vector<int64_t> sizes;
  for (const ParameterSlot& slot : model.network.layout().slots()) sizes.push_back(slot.size);
  const ParameterSlot& weight = model.network.layout()[model.network.layout().index_of("output.weight")];
  const int64_t first = weight.offset, size = model.network.layout().total() - first;
  const CurvatureAt at = curvature_at(model.fit, model.values);
  const at::Tensor precision = at.point.scale * dense(at.curvature.curvature(), sizes) +
                               at::diag(model.fit.prior.expand(model.values.log_prior_precision).exp());
  const at::Tensor inverse = at::linalg_inv(precision.narrow(0, first, size).narrow(1, first, size));
  const at::Tensor columns = jacobian(model.network, model.images).jacobian.narrow(2, first, size);
  return at::matmul(at::matmul(columns, inverse), columns.transpose(1, 2));
}

TEST(LastLayerPredictive, IsThePosteriorGivenAllOtherWeights) {
  for (const char* spec : {"linear", "mlp:7-5", "cnn:width=3,depth=2", "resnet:depth=8,width=2"}) {
    for (Structure structure : {Structure::kronecker, Structure::diagonal, Structure::block, Structure::full}) {
      SCOPED_TRACE(std::string(spec) + " structure " + std::to_string(static_cast<int>(structure)));
      const Trained model = trained(spec, {2, 8, 8}, at::kDouble, structure);
      FunctionOptions options;
      options.scope = PosteriorScope::last_layer;
      options.batch_size = 4;
      const auto found = predict_function(model.network, model.fit, model.values, model.images, options);
      EXPECT_LT(relative_difference(found.covariance, by_dense_last_layer(model)), 1e-9);
      EXPECT_LT(relative_difference(found.mean, model.network.forward(model.images)), 1e-12);
      if (structure == Structure::full) continue;  // conditioning there takes more away than leaving out blocks
      const auto whole = predict_function(model.network, model.fit, model.values, model.images);
      EXPECT_GE((whole.covariance - found.covariance).diagonal(0, 1, 2).min().item<double>(), -1e-9);
    }
  }
}

TEST(LastLayerPredictive, ALayerBeforeTheOutputsIsFollowedByTheRest) {
  // The last linear layer does not give the outputs: its gradients must go through what follows.
  const at::Tensor weight = at::randn({kClasses, 3}, random_stream({1}), at::kDouble).requires_grad_();
  const at::Tensor scale = at::randn({kClasses}, random_stream({2}), at::kDouble).requires_grad_();
  const Network network({{"weight", weight}, {"scale", scale}},
                        [=](const at::Tensor& x) { return at::tanh(at::linear(x, weight)) * scale; });
  const at::Tensor inputs = at::randn({6, 3}, random_stream({3}), at::kDouble);
  const Prior prior = Prior::scalar(network.layout());
  Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, kClasses);
  values.log_prior_precision = at::full({1}, 0.3, at::kDouble);
  LaplaceOptions laplace;
  laplace.curvature.structure = Structure::block;
  const LaplaceFit fit =
      fit_laplace({network, Categorical{}, prior, values}, {inputs, at::arange(6).remainder(kClasses)}, laplace);
  FunctionOptions options;
  options.scope = PosteriorScope::last_layer;
  const auto found = predict_function(network, fit, values, inputs, options);
  const at::Tensor precision = dense(fit.curvature.curvature(), {12, 4}).narrow(0, 0, 12).narrow(1, 0, 12) +
                               std::exp(0.3) * at::eye(12, at::kDouble);
  const at::Tensor columns = jacobian(network, inputs).jacobian.narrow(2, 0, 12);
  const at::Tensor expected = at::matmul(at::matmul(columns, at::linalg_inv(precision)), columns.transpose(1, 2));
  EXPECT_LT(relative_difference(found.covariance, expected), 1e-10);

  const Network no_linear({{"scale", scale}}, [=](const at::Tensor& x) { return x.narrow(1, 0, 1) * scale; });
  const LaplaceFit other = fit_laplace({no_linear, Categorical{}, Prior::scalar(no_linear.layout()), values},
                                       {inputs, at::arange(6).remainder(kClasses)}, laplace);
  testing::expect_error(ErrorKind::usage, {"no linear layer"},
                        [&] { predict_function(no_linear, other, values, inputs, options); });
}

}  // namespace
}  // namespace ockham
