#include "ockham/linalg/pixel_correlations.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/linalg/image_windows.h"

namespace ockham {
namespace {

WindowShape shape_of(int64_t height, int64_t width, int64_t padding_height, int64_t padding_width) {
  return {height, width, padding_height, padding_width, 1, 1};
}

/// It is right for kernels and paddings for which it does not pay, too.
TEST(PixelCorrelations, AreTheProductsOfUnfoldedWindows) {
  const at::Tensor images = at::randn({3, 16, 7, 6}, random_stream({1}), at::kFloat);
  if (!PixelCorrelations::pays(shape_of(3, 3, 1, 1), images))
    GTEST_SKIP() << "this processor has no AVX-512; windows are unfolded along their width";
  for (const WindowShape& shape : {shape_of(3, 3, 1, 1), shape_of(3, 3, 0, 0), shape_of(3, 3, 2, 2),
                                   shape_of(5, 3, 2, 0), shape_of(1, 1, 0, 0), shape_of(2, 5, 0, 1)}) {
    SCOPED_TRACE(std::to_string(shape.kernel_height) + " " + std::to_string(shape.kernel_width) + " padding " +
                 std::to_string(shape.padding_height) + " " + std::to_string(shape.padding_width));
    PixelCorrelations correlations(shape, 16);
    correlations.add(images.narrow(0, 0, 1));
    correlations.add(images.narrow(0, 1, 2));
    const at::Tensor windows = at::im2col(images, {shape.kernel_height, shape.kernel_width}, {1, 1},
                                          {shape.padding_height, shape.padding_width}, {1, 1})
                                   .transpose(1, 2)
                                   .flatten(0, 1)
                                   .to(at::kDouble);
    const at::Tensor found = correlations.finish().permute({2, 0, 1, 5, 3, 4}).reshape({windows.size(1), -1});
    EXPECT_LT((found - at::mm(windows.t(), windows)).abs().max().item<double>(), 1e-4);
    EXPECT_TRUE(found.equal(found.t()));
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
