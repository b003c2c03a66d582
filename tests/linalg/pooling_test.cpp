#include "ockham/linalg/pooling.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"

namespace ockham {
namespace {

struct Case {
  int64_t channels, height, width;
  PoolShape shape;
  bool rounds_up;  // ceil_mode
};

void expect_as_libtorch(const Case& one, at::ScalarType type, bool rectified) {
  const PoolShape& shape = one.shape;
  const at::Tensor before = at::randn({3, one.channels, one.height, one.width}, random_stream({5}), at::kDouble)
                                .to(type)
                                .contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor images = rectified ? before.relu() : before;
  const std::vector<int64_t> kernel = {shape.kernel_height, shape.kernel_width};
  const std::vector<int64_t> stride = {shape.stride_height, shape.stride_width};
  const std::vector<int64_t> padding = {shape.padding_height, shape.padding_width};
  const auto [pooled, indices] = at::max_pool2d_with_indices(images, kernel, stride, padding, 1, one.rounds_up);
  ASSERT_TRUE(PoolingOrigins::can_hold(images, indices, shape));
  const PoolingOrigins origins(images, indices, shape, rectified);
  for (uint64_t column = 0; column < 2; ++column) {
    const at::Tensor gradient = at::randn(pooled.sizes(), random_stream({column}), at::kDouble).to(type);
    at::Tensor expected =
        at::max_pool2d_with_indices_backward(gradient.contiguous(at::MemoryFormat::ChannelsLast), images, kernel,
                                             stride, padding, 1, one.rounds_up, indices);
    if (rectified) expected = at::threshold_backward(expected, images, 0);
    const at::Tensor sent = origins.send_back(gradient);
    EXPECT_EQ(sent.sizes(), expected.sizes());
    EXPECT_LT((sent - expected).abs().max().item<double>(), type == at::kDouble ? 1e-14 : 1e-6);
  }
}

TEST(Pooling, SendsGradientsBackAsLibtorchDoes) {
  const std::vector<Case> cases = {{16, 8, 8, {2, 2, 2, 2, 0, 0}, false},  {64, 12, 12, {3, 3, 2, 2, 0, 0}, true},
                                   {37, 9, 7, {3, 3, 2, 2, 1, 1}, true},   {5, 9, 11, {3, 2, 1, 2, 1, 0}, false},
                                   {32, 10, 6, {4, 3, 3, 1, 2, 1}, false}, {2, 7, 15, {7, 15, 1, 1, 0, 0}, false},
                                   {17, 11, 11, {2, 2, 3, 3, 0, 0}, false}};  // the last one skips pixels
  for (const Case& one : cases)
    for (const at::ScalarType type : {at::kFloat, at::kDouble})
      for (const bool rectified : {false, true}) {
        SCOPED_TRACE(std::to_string(one.channels) + " channels, " + std::to_string(one.shape.kernel_height) + " x " +
                     std::to_string(one.shape.kernel_width) + (rectified ? " rectified" : ""));
        expect_as_libtorch(one, type, rectified);
      }
}

/// Equal pixels: the gradient goes to the one that libtorch took for the maximum, and to nobody where that is zero.
TEST(Pooling, EqualMaximaAndZeros) {
  at::Tensor images = at::zeros({1, 2, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast);
  images[0][0].fill_(2);
  const auto [pooled, indices] = at::max_pool2d_with_indices(images, {2, 2});
  const PoolingOrigins origins(images, indices, {2, 2, 2, 2, 0, 0}, true);
  const at::Tensor sent = origins.send_back(at::ones_like(pooled));
  EXPECT_EQ(sent[0][0].sum().item<double>(), 4);
  EXPECT_EQ(sent[0][1].abs().sum().item<double>(), 0);
}

TEST(Pooling, KnowsWhatItCannotHold) {
  const auto held = [](const at::Tensor& images, std::vector<int64_t> kernel) {
    const auto [pooled, indices] = at::max_pool2d_with_indices(images, kernel);
    return PoolingOrigins::can_hold(images, indices, {kernel[0], kernel[1], kernel[0], kernel[1], 0, 0});
  };
  const at::Tensor images = at::randn({2, 3, 32, 32});
  const at::Tensor beside = images.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(held(beside, {2, 2}));
  EXPECT_FALSE(held(images, {2, 2}));     // the pixels of a channel are beside each other
  EXPECT_FALSE(held(beside, {16, 16}));   // more places than a byte has
  EXPECT_FALSE(held(beside[0], {2, 2}));  // no batch
}

}  // namespace
}  // namespace ockham
