#include "ockham/linalg/pixel_correlations.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/linalg/halves.h"
#include "ockham/linalg/image_windows.h"
#include "ockham/linalg/narrow_products.h"
#include "ockham/linalg/pack_pixels.h"

namespace ockham {
namespace {

constexpr int64_t kCacheFloats = 6144;  // of an image's rows at once: three quarters of the first-level cache

constexpr int64_t kKernel = 3, kShifts = 2 * kKernel - 1;

}  // namespace

bool PixelCorrelations::pays(const WindowShape& shape, const at::Tensor& images) {
  return images.scalar_type() == at::kFloat && images.size(1) % 16 == 0 && has_stacked_product(8, 16) &&
         shape.kernel_height == kKernel && shape.kernel_width == kKernel && shape.padding_height == 1 &&
         shape.padding_width == 1 && shape.stride_width == 1 && shape.dilation_width == 1;
}

PixelCorrelations::PixelCorrelations(int64_t channels)
    : channels_(channels),
      all_(at::zeros({kKernel, kShifts, channels, channels}, at::kDouble)),
      rows_(at::zeros({2, channels, kKernel, channels}, at::kDouble)),
      columns_(at::zeros_like(rows_)),
      corners_(at::zeros({2, 2, channels, channels}, at::kDouble)) {}

void PixelCorrelations::add(const at::Tensor& images) {
  add_all_pixels(images);
  add_edges(images);
}

void PixelCorrelations::add_all_pixels(const at::Tensor& images) {
  const int64_t count = images.size(0), height = images.size(2), width = images.size(3);
  // Zeros behind every row: a pixel's neighbours to both sides are then beside it in memory.
  const int64_t row = (width + kKernel - 1) * channels_;
  const int64_t half = (count + 1) / 2, at_once = std::max<int64_t>(1, kCacheFloats / row);
  at::Tensor sums = at::zeros({2, kKernel, channels_, kShifts, channels_}, images.options());
  run_in_halves({[&](int which) {
    std::vector<float> image(height * row);
    for (int64_t m = which * half; m < (which == 0 ? half : count); ++m) {
      pack_pixels(images, m, image.data(), row);
      for (int64_t first = 0; first < height; first += at_once) {
        const float* left = image.data() + first * row;
        for (int64_t d = 0; d < kKernel; ++d) {
          const int64_t rows = std::min(at_once, height - d - first);
          if (rows <= 0) break;
          // Of d = 0 the shifts to the left are those to the right, transposed.
          const int64_t leftmost = d == 0 ? 0 : kKernel - 1;
          float* to = sums.data_ptr<float>() + which * sums.stride(0) + d * sums.stride(1) +
                      (kKernel - 1 - leftmost) * channels_;
          const float* right = left + d * row - leftmost * channels_;
          add_stacked_product(to, kShifts * channels_, {{left, channels_, right, channels_, width}, rows, row, row},
                              channels_, (kKernel + leftmost) * channels_);
        }
      }
    }
  }});
  all_.add_(sums.sum(0).transpose(1, 2));
}

void PixelCorrelations::add_edges(const at::Tensor& images) {
  const int64_t count = images.size(0), last_row = images.size(2) - 1, last_column = images.size(3) - 1;
  const auto add_line = [&](const at::Tensor& line, at::Tensor sum, at::Tensor first_corner, at::Tensor last_corner) {
    const int64_t length = line.size(1), row = (length + kKernel - 1) * channels_;
    const at::Tensor packed = at::zeros({count, length + kKernel - 1, channels_}, line.options());
    packed.narrow(1, 0, length).copy_(line);
    const float* from = packed.data_ptr<float>();
    const auto add_product = [&](at::Tensor& to, const TallStack& stack, int64_t width) {
      const at::Tensor product = at::zeros({channels_, width}, line.options());
      add_stacked_product(product.data_ptr<float>(), width, stack, channels_, width);
      to.view({channels_, width}).add_(product);
    };
    add_product(sum, {{from, channels_, from, channels_, length}, count, row, row}, kKernel * channels_);
    if (first_corner.defined()) add_product(first_corner, {{from, row, from, row, count}}, channels_);
    const float* end = from + (length - 1) * channels_;
    if (last_corner.defined()) add_product(last_corner, {{end, row, end, row, count}}, channels_);
  };
  const at::Tensor pixels = images.permute({0, 2, 3, 1});
  add_line(pixels.select(1, last_row), rows_[0], corners_[0][1], corners_[0][0]);
  add_line(pixels.select(1, 0), rows_[1], corners_[1][1], corners_[1][0]);
  add_line(pixels.select(2, last_column), columns_[0], {}, {});
  add_line(pixels.select(2, 0), columns_[1], {}, {});
}

at::Tensor PixelCorrelations::edge(int64_t i, int64_t j, int64_t d, int64_t e) const {
  at::Tensor sum = at::zeros({channels_, channels_}, at::kDouble);
  const bool misses_row = d == 0 && i != 1, misses_column = e == 0 && j != 1;  // the middle meets all
  if (misses_row) sum += rows_[i / 2].select(1, e);
  if (misses_column) sum += columns_[j / 2].select(1, d);
  if (misses_row && misses_column) sum -= corners_[i / 2][j / 2];
  return sum;
}

at::Tensor PixelCorrelations::finish() const {
  at::Tensor result = at::empty({kKernel, kKernel, channels_, kKernel, kKernel, channels_}, at::kDouble);
  for (int64_t d = 0; d < kKernel; ++d) {
    for (int64_t e = d == 0 ? 0 : 1 - kKernel; e < kKernel; ++e) {
      for (int64_t i = 0; i + d < kKernel; ++i) {
        for (int64_t j = std::max<int64_t>(0, -e); j < kKernel && j + e < kKernel; ++j) {
          at::Tensor to = result[i][j].select(1, i + d).select(1, j + e);
          to.copy_(all_[d][e + kKernel - 1] - edge(i, j, d, e));
          if (d == 0 && e == 0)
            to.copy_((to + to.t()) / 2);  // symmetric up to rounding
          else
            result[i + d][j + e].select(1, i).select(1, j).copy_(to.t());
        }
      }
    }
  }
  return result;
}

}  // namespace ockham
