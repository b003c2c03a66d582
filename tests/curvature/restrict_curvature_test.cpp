#include "ockham/curvature/restrict_curvature.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/curvature/decomposed.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/curvature/output_gradients.h"
#include "tests/curvature/output_cases.h"
#include "tests/support/dense_reference.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

constexpr double kExact = 1e-10;

/// With the other parameters known: J_L (H_LL)⁻¹ J_Lᵀ by dense matrices.
at::Tensor conditional_covariance(const testing::ZooNetwork& zoo, const at::Tensor& precision,
                                  const std::vector<size_t>& parameters) {
  std::vector<at::Tensor> places;
  for (size_t i : parameters) {
    const ParameterSlot& slot = zoo.network.layout()[i];
    places.push_back(at::arange(slot.offset, slot.offset + slot.size, at::kLong));
  }
  const at::Tensor index = at::cat(places);
  const at::Tensor jacobian = testing::brute_force_jacobian(zoo.network, zoo.inputs).index_select(2, index);
  const at::Tensor inverse = at::linalg_inv(precision.index_select(0, index).index_select(1, index));
  return at::matmul(at::matmul(jacobian, inverse), jacobian.transpose(1, 2));
}

TEST(RestrictCurvature, OtherParametersAreKnown) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    std::vector<int64_t> sizes;
    for (const ParameterSlot& slot : zoo.network.layout().slots()) sizes.push_back(slot.size);
    const Prior prior = Prior::layerwise(zoo.network.layout());
    const PrecisionPoint point = point_of(prior);
    const Observation observation = observe_forward(zoo.network, zoo.inputs);
    for (Structure structure : {Structure::kronecker, Structure::diagonal, Structure::block, Structure::full}) {
      SCOPED_TRACE(zoo.name + " structure " + std::to_string(static_cast<int>(structure)));
      const Curvature whole = curvature_of(zoo, structure);
      const at::Tensor precision =
          point.scale * dense(whole, sizes) + at::diag(prior.expand(point.log_prior_precision).exp());
      for (const std::vector<size_t>& parameters : {std::vector<size_t>{0}, std::vector<size_t>{1}}) {
        OutputGradients::Options options;
        options.parameters = parameters;
        const OutputGradients gradients(zoo.network, observation, options);
        const DecomposedCurvature curvature(restrict_curvature(whole, zoo.network.layout(), parameters), prior);
        const at::Tensor expected = conditional_covariance(zoo, precision, parameters);
        EXPECT_LT((curvature.output_posterior(point).covariance(gradients) - expected).abs().max().item<double>(),
                  kExact * (1 + expected.abs().max().item<double>()));
      }
    }
  }
}

}  // namespace
}  // namespace ockham
