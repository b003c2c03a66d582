#include "ockham/network/scaled_images.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/evidence/evidence.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

at::Tensor seeded(const std::vector<int64_t>& shape, uint64_t seed, at::ScalarType dtype) {
  return (0.5 * at::randn(shape, random_stream({seed}), at::kDouble)).to(dtype).set_requires_grad(true);
}

/// A convolution, ReLU, and a linear layer on images [2, 5, 4].
Network tiny_cnn(at::ScalarType dtype) {
  const std::vector<std::pair<std::string, at::Tensor>> parameters = {
      {"convolution.weight", seeded({3, 2, 3, 3}, 1, dtype)},
      {"convolution.bias", seeded({3}, 2, dtype)},
      {"output.weight", seeded({3, 18}, 3, dtype)},
      {"output.bias", seeded({3}, 4, dtype)}};
  return Network(parameters, [parameters](const at::Tensor& inputs) {
    const at::Tensor hidden = at::relu(at::conv2d(inputs, parameters[0].second, parameters[1].second));
    return at::linear(hidden.flatten(1), parameters[2].second, parameters[3].second);
  });
}

at::Tensor random_bytes(int64_t count) {
  return at::randint(0, 256, {count, 2, 5, 4}, random_stream({5}), at::kLong).to(at::kByte);
}

const ImageScaling scaling{{0.3, 0.6}, {0.2, 0.4}};

at::Tensor scale_by_hand(const at::Tensor& bytes) {
  const at::Tensor values = bytes.to(at::kDouble) / 255;
  return at::stack({(values.select(1, 0) - 0.3) / 0.2, (values.select(1, 1) - 0.6) / 0.4}, 1);
}

TEST(ScaledImages, EqualsScalingByHand) {
  const at::Tensor bytes = random_bytes(6);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const Network network = tiny_cnn(dtype), scaled = scale_images(network, scaling);
    const at::Tensor expected = network.forward(scale_by_hand(bytes).to(dtype));
    const double tolerance = dtype == at::kFloat ? 1e-5 : 1e-12;
    for (const at::Tensor& inputs : {bytes, bytes.to(at::kFloat), bytes.to(at::kDouble)}) {
      const at::Tensor outputs = scaled.forward(inputs);
      EXPECT_EQ(outputs.scalar_type(), dtype);
      EXPECT_TRUE(at::allclose(outputs, expected, tolerance, tolerance));
    }
  }
}

TEST(ScaledImages, SharesTheParameters) {
  const Network network = tiny_cnn(at::kDouble), scaled = scale_images(network, scaling);
  ASSERT_EQ(scaled.parameters().size(), network.parameters().size());
  for (size_t k = 0; k < network.parameters().size(); ++k) {
    EXPECT_TRUE(scaled.parameters()[k].is_same(network.parameters()[k]));
    EXPECT_EQ(scaled.layout()[k].name, network.layout()[k].name);
  }
  scaled.set_flat_parameters(at::zeros({network.layout().total()}, at::kDouble));
  EXPECT_EQ(network.forward(scale_by_hand(random_bytes(1))).abs().sum().item<double>(), 0);
}

TEST(ScaledImages, GivesTheEvidenceOfScaledInputs) {
  const at::Tensor bytes = random_bytes(12), labels = at::arange(12, at::kLong).remainder(3);
  const Network network = tiny_cnn(at::kDouble), scaled = scale_images(network, scaling);
  const Prior prior = Prior::layerwise(network.layout());
  const Hyperparameters values{at::zeros({prior.size()}, at::kDouble), at::zeros({0}, at::kDouble),
                               at::zeros({1}, at::kDouble)};
  for (const Structure structure : {Structure::full, Structure::kronecker, Structure::diagonal}) {
    LaplaceOptions options;
    options.curvature.structure = structure;
    const LaplaceFit on_bytes = fit_laplace({scaled, Categorical{}, prior, values}, {bytes, labels}, options);
    const LaplaceFit on_values =
        fit_laplace({network, Categorical{}, prior, values}, {scale_by_hand(bytes), labels}, options);
    EXPECT_NEAR(evidence(on_bytes, values).value, evidence(on_values, values).value, 1e-9);
  }
}

TEST(ScaledImages, RefusesWhatDoesNotFit) {
  const Network network = tiny_cnn(at::kDouble), scaled = scale_images(network, scaling);
  testing::expect_error(ErrorKind::data, {"[N, 2, height, width]", "[3, 1, 5, 4]"}, [&] {
    scaled.forward(at::zeros({3, 1, 5, 4}, at::kByte));
  });
  testing::expect_error(ErrorKind::data, {"[3, 40]"}, [&] { scaled.forward(at::zeros({3, 40})); });
  testing::expect_error(ErrorKind::usage, {"2 means", "1 sds"}, [&] { scale_images(network, {{0, 0}, {1}}); });
  testing::expect_error(ErrorKind::usage, {"positive sd"}, [&] { scale_images(network, {{0, 0}, {1, 0}}); });
}

}  // namespace
}  // namespace ockham
