#include "ockham/linalg/image_windows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

struct Case {
  const char* name;
  std::vector<int64_t> images;  // M, C, H, W
  WindowShape shape;
};

std::vector<Case> cases() {
  return {{"valid", {3, 4, 7, 6}, {3, 3, 0, 0, 1, 1}},
          {"same padding", {3, 4, 5, 6}, {3, 3, 1, 1, 1, 1}},
          {"five by two", {2, 3, 9, 8}, {5, 2, 2, 0, 1, 1}},
          {"across in steps", {2, 2, 6, 9}, {2, 3, 0, 1, 2, 2}},
          {"as many rows of windows as a window has", {2, 2, 5, 5}, {3, 3, 0, 0, 1, 1}},
          {"one channel", {4, 1, 9, 9}, {5, 5, 0, 0, 1, 1}},
          {"many channels", {2, 40, 6, 5}, {3, 3, 1, 1, 1, 1}},
          {"sixteen channels", {3, 16, 7, 5}, {3, 3, 1, 1, 1, 1}},
          {"few pixels of many channels", {3, 48, 3, 3}, {3, 3, 1, 1, 1, 1}}};
}

/// Down by more than one row at a time: for squared gradients only.
std::vector<Case> strided_cases() {
  return {{"two by two", {3, 16, 8, 8}, {3, 3, 1, 1, 2, 1, 2}},
          {"odd sizes", {3, 4, 9, 7}, {3, 3, 0, 0, 2, 1, 2}},
          {"down in steps of three", {2, 5, 14, 6}, {4, 2, 1, 0, 1, 2, 3}}};
}

at::Tensor random_images(const Case& c, at::ScalarType type) { return at::randn(c.images, random_stream({7}), type); }

// Every window of every image as a row in the order [C][k1][k2], by ATen's own unfolding.
at::Tensor plain_windows(const at::Tensor& images, const WindowShape& s) {
  return at::im2col(images, {s.kernel_height, s.kernel_width}, {1, s.dilation_width},
                    {s.padding_height, s.padding_width}, {s.stride_height, s.stride_width})
      .transpose(1, 2);  // [M, S, D]
}

TEST(ImageWindows, GramIsThatOfAllWindows) {
  for (const Case& c : cases()) {
    for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
      for (const at::MemoryFormat format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
        SCOPED_TRACE(c.name);
        const at::Tensor images = random_images(c, type).contiguous(format);
        WindowGram gram(c.shape, images.size(1));
        gram.add(images.narrow(0, 0, 1));
        gram.add(images.narrow(0, 1, images.size(0) - 1));
        const at::Tensor rows = plain_windows(images.contiguous(), c.shape).flatten(0, 1).to(at::kDouble);
        const at::Tensor expected = at::mm(rows.t(), rows);
        EXPECT_LT((gram.finish() - expected).abs().max().item<double>(), type == at::kDouble ? 1e-12 : 1e-4);
      }
    }
  }
}

TEST(ImageWindows, SquaredGradientsAreThoseOfEachImage) {
  std::vector<Case> all = cases();
  for (const Case& c : strided_cases()) all.push_back(c);
  for (const Case& c : all) {
    for (const auto& [type, outputs] : std::vector<std::pair<at::ScalarType, int64_t>>{
             {at::kDouble, 5}, {at::kFloat, 5}, {at::kFloat, 8}}) {  // eights go by products by hand
      for (const at::MemoryFormat format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
        SCOPED_TRACE(c.name);
        const at::Tensor images = random_images(c, type).contiguous(format);
        const int64_t height = c.shape.out_height(images), width = c.shape.out_width(images);
        const at::Tensor gradients =
            at::randn({images.size(0), outputs, height, width}, random_stream({8}), type).contiguous(format);
        const at::Tensor windows = plain_windows(images.contiguous(), c.shape);
        const at::Tensor each = at::matmul(gradients.contiguous().flatten(2), windows);  // [M, out, C·k1·k2]
        at::Tensor expected = each.square().sum(0);
        at::Tensor sum = at::ones({outputs, windows.size(2)}, type);
        add_squared_gradients(sum, gradients, images, c.shape);
        const at::Tensor in_order = (sum - 1)
                                        .view({outputs, c.shape.kernel_height, c.shape.kernel_width, -1})
                                        .permute({0, 3, 1, 2})
                                        .reshape({outputs, -1});
        EXPECT_LT((in_order - expected).abs().max().item<double>() / expected.abs().max().item<double>(),
                  type == at::kDouble ? 1e-13 : 1e-5);
      }
    }
  }
}

TEST(ImageWindows, ManyBatchesStayExact) {
  const WindowShape shape{3, 3, 1, 1, 1, 1};
  const at::Tensor images = at::randn({64, 2, 9, 9}, random_stream({9}), at::kFloat);
  WindowGram gram(shape, 2);
  const int64_t batches = 40;
  for (int64_t i = 0; i < batches; ++i) gram.add(images);
  const at::Tensor rows = plain_windows(images, shape).flatten(0, 1).to(at::kDouble);
  const at::Tensor expected = at::mm(rows.t(), rows) * batches;
  EXPECT_LT((gram.finish() - expected).abs().max().item<double>() / expected.abs().max().item<double>(), 2e-6);
}

TEST(ImageWindows, RefusesImagesOfFewRows) {
  WindowGram gram({3, 3, 0, 0, 1, 1}, 1);
  testing::expect_error(ErrorKind::usage, {"rows of windows"}, [&] { gram.add(at::zeros({1, 1, 4, 9})); });
}

}  // namespace
}  // namespace ockham
