#include "ockham/select/automatic_image_settings.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ockham/network/architectures.h"
#include "ockham/network/scaled_images.h"

namespace ockham {
namespace {

double work_of(const std::string& spec, const std::vector<int64_t>& shape) {
  std::vector<int64_t> batch = {1};
  batch.insert(batch.end(), shape.begin(), shape.end());
  return count_multiply_adds(make_architecture(spec, shape, 10, at::kFloat, 0), at::zeros(batch));
}

TEST(CountMultiplyAdds, IsTheSumOverWeightsTimesPositions) {
  EXPECT_EQ(work_of("linear", {1, 8, 8}), 640);
  EXPECT_EQ(work_of("mlp:20-5", {1, 8, 8}), 64 * 20 + 20 * 5 + 5 * 10);
  // conv 5×5 on 28 → 24, pooled to 12; conv 3×3 → 10, pooled to 5; conv 3×3 padded → 5, pooled to 3: then dense.
  const double convolutions = 24.0 * 24 * 64 * 25 + 10.0 * 10 * 96 * 64 * 9 + 5.0 * 5 * 128 * 96 * 9;
  const double dense = 1152.0 * 512 + 512 * 256 + 256 * 10;
  EXPECT_NEAR(work_of("cnn:3c3d", {1, 28, 28}), convolutions + dense, 0.02 * (convolutions + dense));
}

TEST(CountMultiplyAdds, TakesScaledImagesAsBytes) {
  const Network plain = make_architecture("linear", {3, 8, 8}, 10, at::kFloat, 0);
  const Network scaled = scale_images(plain, {{0, 0, 0}, {1, 1, 1}});
  EXPECT_EQ(count_multiply_adds(scaled, at::zeros({1, 3, 8, 8}, at::kByte)), 1920);
}

TEST(AutomaticImageNetworks, AreThoseThatTheImagesAreLargeEnoughFor) {
  for (const int64_t side : {5, 8, 16, 28, 32, 64}) {
    const std::vector<std::string> networks = automatic_image_networks({3, side, side});
    EXPECT_EQ(networks.front(), "linear");
    EXPECT_EQ(std::count(networks.begin(), networks.end(), "cnn:3c3d"), side >= 28 ? 1 : 0);
    for (const std::string& spec : networks) EXPECT_GT(work_of(spec, {3, side, side}), 0) << spec;  // it can be made
  }
}

TEST(AutomaticImageSettings, MoreWorkMeansFewerEpochs) {
  ProblemSize problem{10000, 784, 10, 9, true, 2};
  const AutomaticSettings small = automatic_image_settings(problem, {40000}, 1);
  const AutomaticSettings large = automatic_image_settings(problem, {1e7}, 1);
  EXPECT_EQ(small.epochs, 100);
  EXPECT_LT(large.epochs, small.epochs);
  EXPECT_GE(large.epochs, 5);
  EXPECT_EQ(small.batch_size, 128);
  EXPECT_EQ(small.structure, Structure::kronecker);
  EXPECT_EQ(large.workers, 1u);
  EXPECT_GT(automatic_image_settings(problem, {40000, 8000}, 1).workers, 1u);
  problem.examples = 60;
  EXPECT_EQ(automatic_image_settings(problem, {40000}, 1).batch_size, 60);
  for (const int64_t epochs : {1, 5, 9, 40, 300}) {
    EXPECT_GE(automatic_image_frequency(epochs), 1);
    EXPECT_LE(epochs / automatic_image_frequency(epochs), 19);
  }
}

}  // namespace
}  // namespace ockham
