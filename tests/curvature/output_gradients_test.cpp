#include "ockham/curvature/output_gradients.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/curvature/decomposed.h"
#include "ockham/curvature/estimate_curvature.h"
#include "tests/curvature/output_cases.h"
#include "tests/support/dense_reference.h"
#include "tests/support/finite_differences.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

using testing::relative_difference;

constexpr double kExact = 1e-10;

std::vector<Prior> priors_of(const Network& network, Structure structure) {
  std::vector<Prior> priors = {Prior::scalar(network.layout()), Prior::layerwise(network.layout())};
  if (structure != Structure::kronecker) priors.push_back(Prior::diagonal(network.layout()));
  return priors;
}

TEST(OutputGradients, PiecesAreTheColumnsOfTheJacobian) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const at::Tensor jacobian = testing::brute_force_jacobian(zoo.network, zoo.inputs);
    const Observation observation = observe_forward(zoo.network, zoo.inputs);
    const OutputGradients gradients(zoo.network, observation, {});
    for (size_t i = 0; i < zoo.network.layout().count(); ++i) {
      const ParameterSlot& slot = zoo.network.layout()[i];
      const at::Tensor expected = jacobian.narrow(2, slot.offset, slot.size).narrow(0, 1, 3);
      EXPECT_LT((gradients.jacobian(i, 1, 3) - expected).abs().max().item<double>(), 1e-12) << slot.name;
      if (!gradients.has_products(i)) continue;
      const auto products = gradients.products(i, 1, 3);
      at::Tensor sum = at::einsum("gncis,gnsj->ncgij", {products.gradients, products.inputs});
      if (!products.gradient_left) sum = sum.transpose(3, 4);
      EXPECT_LT((sum.reshape(expected.sizes()) - expected).abs().max().item<double>(), 1e-12) << slot.name;
    }
  }
}

TEST(OutputGradients, CovariancesEqualThoseOfTheWholeJacobian) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    const at::Tensor jacobian = testing::brute_force_jacobian(zoo.network, zoo.inputs);
    const Observation observation = observe_forward(zoo.network, zoo.inputs);
    const OutputGradients gradients(zoo.network, observation, {});
    for (Structure structure : {Structure::kronecker, Structure::diagonal, Structure::block, Structure::full}) {
      for (const Prior& prior : priors_of(zoo.network, structure)) {
        SCOPED_TRACE(zoo.name + " structure " + std::to_string(static_cast<int>(structure)));
        const DecomposedCurvature curvature(curvature_of(zoo, structure), prior);
        const PrecisionPoint point = point_of(prior);
        EXPECT_LT(relative_difference(curvature.output_posterior(point).covariance(gradients),
                                      curvature.output_covariance(point, jacobian)),
                  kExact);
      }
    }
  }
}

TEST(OutputGradients, CovariancesStayEqualWithoutEachRecogniser) {
  for (const char* recogniser : {"linear", "convolution", "elementwise", "normalisation", "embedding"}) {
    for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
      SCOPED_TRACE(zoo.name + " without " + recogniser);
      ObserveOptions observe;
      observe.without_recognisers = {recogniser};
      const Observation observation = observe_forward(zoo.network, zoo.inputs, observe);
      const OutputGradients gradients(zoo.network, observation, {});
      const Prior prior = Prior::layerwise(zoo.network.layout());
      const DecomposedCurvature curvature(curvature_of(zoo, Structure::kronecker), prior);
      const PrecisionPoint point = point_of(prior);
      const at::Tensor jacobian = testing::brute_force_jacobian(zoo.network, zoo.inputs);
      EXPECT_LT(relative_difference(curvature.output_posterior(point).covariance(gradients),
                                    curvature.output_covariance(point, jacobian)),
                kExact);
    }
  }
}

TEST(OutputGradients, DampedKroneckerFactors) {
  const testing::ZooNetwork zoo = testing::layer_zoo()[0];
  const Prior prior = Prior::layerwise(zoo.network.layout());
  DecomposeOptions options;
  options.damping = true;
  const DecomposedCurvature curvature(curvature_of(zoo, Structure::kronecker), prior, options);
  const Observation observation = observe_forward(zoo.network, zoo.inputs);
  const OutputGradients gradients(zoo.network, observation, {});
  const at::Tensor jacobian = testing::brute_force_jacobian(zoo.network, zoo.inputs);
  const PrecisionPoint point = point_of(prior);
  EXPECT_LT(relative_difference(curvature.output_posterior(point).covariance(gradients),
                                curvature.output_covariance(point, jacobian)),
            kExact);
}

TEST(FindLastLayer, IsTheLastLinearOne) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const auto last = find_last_layer(observe_forward(zoo.network, zoo.inputs));
    const std::vector<size_t> found = last ? last->parameters : std::vector<size_t>();
    if (zoo.name == "addmm") {
      EXPECT_EQ(found, (std::vector<size_t>{2, 3}));
    } else if (zoo.name == "layer_norm") {
      EXPECT_EQ(found, (std::vector<size_t>{3}));
    } else if (zoo.name == "conv3d") {
      EXPECT_FALSE(last.has_value());
    }
  }
}

TEST(OutputGradientBytes, GrowWithTheParametersThatAreUncertain) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    const Observation observation = observe_forward(zoo.network, zoo.inputs);
    const int64_t one = output_gradient_bytes(zoo.network, observation, {0});
    EXPECT_GT(one, 0);
    EXPECT_GE(output_gradient_bytes(zoo.network, observation, {}), one);
  }
}

}  // namespace
}  // namespace ockham
