#include "ockham/linalg/pixel_correlations.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>

#include "ockham/base/random.h"
#include "ockham/linalg/image_windows.h"

namespace ockham {
namespace {

WindowShape shape_of(int64_t height, int64_t width, int64_t padding_height, int64_t padding_width) {
  return {height, width, padding_height, padding_width, 1, 1};
}

TEST(PixelCorrelations, AreTheProductsOfUnfoldedWindows) {
  if (!PixelCorrelations::pays(shape_of(3, 3, 1, 1), at::zeros({3, 16, 7, 6})))
    GTEST_SKIP() << "this processor has no AVX-512; windows are unfolded along their width";
  for (const auto& [channels, height, width] :
       std::vector<std::array<int64_t, 3>>{{16, 7, 6}, {16, 3, 3}, {32, 4, 2}, {16, 3, 1}, {48, 5, 9}, {64, 8, 8}}) {
    SCOPED_TRACE(std::to_string(channels) + " x " + std::to_string(height) + " x " + std::to_string(width));
    const at::Tensor drawn = at::randn({3, channels, height, width}, random_stream({1}), at::kFloat);
    for (const at::Tensor& images : {drawn, drawn.contiguous(at::MemoryFormat::ChannelsLast)}) {
      PixelCorrelations correlations(channels);
      correlations.add(images.narrow(0, 0, 1));
      correlations.add(images.narrow(0, 1, 2));
      const at::Tensor windows =
          at::im2col(images, {3, 3}, {1, 1}, {1, 1}, {1, 1}).transpose(1, 2).flatten(0, 1).to(at::kDouble);
      const at::Tensor found = correlations.finish().permute({2, 0, 1, 5, 3, 4}).reshape({windows.size(1), -1});
      EXPECT_LT((found - at::mm(windows.t(), windows)).abs().max().item<double>(), 1e-4);
      EXPECT_TRUE(found.equal(found.t()));
    }
  }
}

TEST(PixelCorrelations, PayForThreeByThreeKernelsOfManyChannels) {
  const at::Tensor images = at::zeros({1, 16, 7, 6}, at::kFloat);
  EXPECT_FALSE(PixelCorrelations::pays(shape_of(3, 3, 0, 0), images));
  EXPECT_FALSE(PixelCorrelations::pays(shape_of(3, 3, 1, 1), images.to(at::kDouble)));
  EXPECT_FALSE(PixelCorrelations::pays(shape_of(3, 3, 1, 1), images.narrow(1, 0, 3)));
  EXPECT_FALSE(PixelCorrelations::pays({3, 3, 1, 1, 2, 1}, images));
}

}  // namespace
}  // namespace ockham
