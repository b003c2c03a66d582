#include "ockham/network/fixup_resnet.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ockham {
namespace {

TEST(FixupResNet, ParameterCountsOfThePaper) {
  const std::vector<std::pair<int64_t, int64_t>> counts = {
      {20, 268393}, {32, 461959}, {44, 655525}, {56, 849091}, {110, 1720138}};
  for (const auto& [depth, parameters] : counts) {
    EXPECT_EQ(make_fixup_resnet({depth, 16}, {3, 32, 32}, 10, at::kFloat, 0).layout().total(), parameters) << depth;
  }
}

TEST(FixupResNet, WidthMultipliesTheChannels) {
  const auto weights = [](int64_t width) {
    const Network network = make_fixup_resnet({8, width}, {3, 16, 16}, 10, at::kFloat, 0);
    return network.layout()[network.layout().index_of("stage3.block1.conv2.weight")].size;
  };
  EXPECT_EQ(weights(16), 64 * 64 * 9);
  EXPECT_EQ(weights(24), 96 * 96 * 9);
}

TEST(FixupResNet, StartsAsFixupSays) {
  const Network network = make_fixup_resnet({20, 16}, {3, 32, 32}, 10, at::kDouble, 4);
  const at::Tensor images = at::randn({2, 3, 8, 8}, at::kDouble);
  EXPECT_TRUE(network.forward(images).eq(0).all().item<bool>());  // the last layer is zero
  for (size_t i = 0; i < network.layout().count(); ++i) {
    const std::string& name = network.layout()[i].name;
    const at::Tensor value = network.parameters()[i].detach();
    if (name == "stage3.block2.conv1.weight") {
      // He's deviation times L^(-1/(2m-2)) with L = 9 residual branches of m = 2 layers.
      EXPECT_NEAR(value.std().item<double>(), std::sqrt(2.0 / (9 * 64)) / 3, 2e-4);
    } else if (name.find("conv1.weight") == std::string::npos && name != "conv.weight") {
      const double expected = name.find("scale") == std::string::npos ? 0 : 1;
      EXPECT_TRUE(value.eq(expected).all().item<bool>()) << name;
    }
  }
}

}  // namespace
}  // namespace ockham
