#include "ockham/linalg/sparse_convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>

#include "ockham/base/random.h"

namespace ockham {
namespace {

struct Case {
  int64_t channels, outputs, height, width, kernel_height, kernel_width;
  ConvolutionShape shape;
};

/// Gradients of which a share is not zero.
at::Tensor gradients(const at::Tensor& like, double share) {
  const at::Tensor values = at::randn(like.sizes(), random_stream({3}));
  return values * (at::rand(like.sizes(), random_stream({4})) < share);
}

TEST(SparseConvolution, SendsGradientsBackAsLibtorchDoes) {
  if (!SparseConvolution::can_hold(at::zeros({1, 16, 1, 1}))) GTEST_SKIP() << "no wide vectors on this processor";
  const std::vector<Case> cases = {{64, 96, 14, 14, 3, 3, {1, 1, 0, 0}}, {96, 128, 6, 6, 3, 3, {1, 1, 1, 1}},
                                   {16, 16, 9, 7, 3, 3, {1, 1, 1, 1}},   {16, 32, 8, 9, 3, 3, {2, 2, 1, 1}},
                                   {32, 5, 7, 11, 5, 2, {1, 3, 2, 0}},   {48, 200, 5, 5, 1, 1, {1, 1, 0, 0}},
                                   {16, 300, 6, 6, 2, 4, {2, 1, 0, 1}}};
  for (const Case& one : cases) {
    for (const double share : {0.0, 0.2, 1.0}) {
      SCOPED_TRACE(std::to_string(one.channels) + " to " + std::to_string(one.outputs) + " channels, share " +
                   std::to_string(share));
      const std::vector<int64_t> stride = {one.shape.stride_height, one.shape.stride_width},
                                 padding = {one.shape.padding_height, one.shape.padding_width};
      const at::Tensor images = at::randn({3, one.channels, one.height, one.width}, random_stream({1}));
      const at::Tensor weight =
          at::randn({one.outputs, one.channels, one.kernel_height, one.kernel_width}, random_stream({2}));
      const at::Tensor gradient = gradients(at::conv2d(images, weight, {}, stride, padding), share);
      const at::Tensor expected =
          std::get<0>(at::convolution_backward(gradient, images, weight, c10::nullopt, stride, padding, {1, 1}, false,
                                               {0, 0}, 1, std::array<bool, 3>{true, false, false}));
      const SparseConvolution convolution(weight, one.shape);
      const at::Tensor sent = convolution.send_back(gradient, one.height, one.width);
      ASSERT_EQ(sent.sizes(), expected.sizes());
      EXPECT_LE((sent - expected).abs().max().item<double>(), 1e-5 * expected.abs().max().item<double>());
    }
  }
}

TEST(SparseConvolution, PaysForSparseGradientsOnly) {
  const at::Tensor like = at::zeros({9, 16, 5, 5});
  EXPECT_FALSE(SparseConvolution::pays(gradients(like, 1)));
  if (SparseConvolution::can_hold(at::zeros({1, 16, 1, 1}))) {
    EXPECT_TRUE(SparseConvolution::pays(gradients(like, 0.3)));
    EXPECT_TRUE(SparseConvolution::pays(gradients(like.narrow(0, 0, 1), 0.3)));
  }
  EXPECT_FALSE(SparseConvolution::can_hold(at::zeros({8, 3, 3, 3})));
  EXPECT_FALSE(SparseConvolution::can_hold(at::zeros({8, 16, 3, 3}, at::kDouble)));
}

}  // namespace
}  // namespace ockham
