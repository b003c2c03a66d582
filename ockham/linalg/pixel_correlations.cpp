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

struct Range {
  int64_t first, end;
  int64_t size() const { return std::max<int64_t>(0, end - first); }
};

/// The pixels that place `offset` of the kernel meets as the window moves.
Range met(int64_t offset, int64_t padding, int64_t windows, int64_t pixels) {
  return {std::max<int64_t>(0, offset - padding), std::min(pixels, windows + offset - padding)};
}

/// Those from which `shift` further there is a pixel, too.
Range with_partner(int64_t shift, int64_t pixels) {
  return {std::max<int64_t>(0, -shift), pixels - std::max<int64_t>(0, shift)};
}

Range both(const Range& a, const Range& b) { return {std::max(a.first, b.first), std::min(a.end, b.end)}; }

/// Those of `all` before and behind `some`.
std::pair<Range, Range> without(const Range& all, const Range& some) {
  return {{all.first, std::min(all.end, some.first)}, {std::max(all.first, some.end), all.end}};
}

}  // namespace

bool PixelCorrelations::pays(const WindowShape& shape, const at::Tensor& images) {
  return images.scalar_type() == at::kFloat && images.size(1) % 16 == 0 && has_stacked_product(8, 16) &&
         shape.kernel_height == 3 && shape.kernel_width == 3 && shape.padding_height == 1 && shape.padding_width == 1 &&
         shape.stride_width == 1 && shape.dilation_width == 1;
}

PixelCorrelations::PixelCorrelations(const WindowShape& shape, int64_t channels)
    : kernel_height_(shape.kernel_height),
      kernel_width_(shape.kernel_width),
      padding_height_(shape.padding_height),
      padding_width_(shape.padding_width),
      channels_(channels),
      all_(at::zeros({kernel_height_, 2 * kernel_width_ - 1, channels, channels}, at::kDouble)),
      edges_(
          at::zeros({kernel_height_, kernel_width_, channels, kernel_height_, kernel_width_, channels}, at::kDouble)) {}

void PixelCorrelations::add(const at::Tensor& images) {
  const int64_t height = images.size(2), width = images.size(3);
  add_all_pixels(images, height, width);
  add_edges(images.permute({0, 2, 3, 1}), height + 2 * padding_height_ - kernel_height_ + 1,
            width + 2 * padding_width_ - kernel_width_ + 1);
}

void PixelCorrelations::add_all_pixels(const at::Tensor& images, int64_t height, int64_t width) {
  const int64_t count = images.size(0);
  // Zeros behind every row: a pixel's neighbours to both sides are then beside it in memory.
  const int64_t row = (width + kernel_width_ - 1) * channels_, shifts = 2 * kernel_width_ - 1;
  const int64_t half = (count + 1) / 2, at_once = std::max<int64_t>(1, kCacheFloats / row);
  at::Tensor sums = at::zeros({2, kernel_height_, channels_, shifts, channels_}, images.options());
  run_in_halves({[&](int which) {
    std::vector<float> image(height * row);
    for (int64_t m = which * half; m < (which == 0 ? half : count); ++m) {
      pack_pixels(images, m, image.data(), row);
      for (int64_t first = 0; first < height; first += at_once) {
        const float* left = image.data() + first * row;
        for (int64_t d = 0; d < kernel_height_; ++d) {
          const int64_t rows = std::min(at_once, height - d - first);
          if (rows <= 0) break;
          // Of d = 0 the shifts to the left are those to the right, transposed.
          const int64_t leftmost = d == 0 ? 0 : kernel_width_ - 1;
          float* to = sums.data_ptr<float>() + which * sums.stride(0) + d * sums.stride(1) +
                      (kernel_width_ - 1 - leftmost) * channels_;
          const float* right = left + d * row - leftmost * channels_;
          add_stacked_product(to, shifts * channels_, {{left, channels_, right, channels_, width}, rows, row, row},
                              channels_, (kernel_width_ + leftmost) * channels_);
        }
      }
    }
  }});
  all_.add_(sums.sum(0).transpose(1, 2));
}

void PixelCorrelations::add_edges(const at::Tensor& pixels, int64_t out_height, int64_t out_width) {
  const int64_t height = pixels.size(1), width = pixels.size(2);
  const auto product = [&](const Range& rows, const Range& columns, int64_t d, int64_t e) {
    const auto some = [&](int64_t down, int64_t across) {
      return pixels.narrow(1, rows.first + down, rows.size())
          .narrow(2, columns.first + across, columns.size())
          .reshape({-1, channels_});
    };
    return some(0, 0).t().mm(some(d, e));
  };
  for (int64_t d = 0; d < kernel_height_; ++d) {
    for (int64_t e = d == 0 ? 0 : 1 - kernel_width_; e < kernel_width_; ++e) {
      const Range rows = with_partner(d, height), columns = with_partner(e, width);
      for (int64_t i = 0; i + d < kernel_height_; ++i) {
        const Range met_rows = met(i, padding_height_, out_height, height), inner_rows = both(rows, met_rows);
        const auto [above, below] = without(rows, met_rows);
        at::Tensor in_rows = at::zeros({channels_, channels_}, pixels.options());
        for (const Range& edge : {above, below})
          if (edge.size() > 0 && columns.size() > 0) in_rows += product(edge, columns, d, e);
        for (int64_t j = std::max<int64_t>(0, -e); j < kernel_width_ && j + e < kernel_width_; ++j) {
          at::Tensor to = edges_[i][j].select(1, i + d).select(1, j + e);
          to += in_rows;
          const auto [before, behind] = without(columns, met(j, padding_width_, out_width, width));
          for (const Range& edge : {before, behind})
            if (edge.size() > 0 && inner_rows.size() > 0) to += product(inner_rows, edge, d, e);
        }
      }
    }
  }
}

at::Tensor PixelCorrelations::finish() const {
  at::Tensor result = at::empty_like(edges_);
  for (int64_t d = 0; d < kernel_height_; ++d) {
    for (int64_t e = d == 0 ? 0 : 1 - kernel_width_; e < kernel_width_; ++e) {
      for (int64_t i = 0; i + d < kernel_height_; ++i) {
        for (int64_t j = std::max<int64_t>(0, -e); j < kernel_width_ && j + e < kernel_width_; ++j) {
          const auto block = [&](const at::Tensor& t) { return t[i][j].select(1, i + d).select(1, j + e); };
          at::Tensor to = block(result);
          to.copy_(all_[d][e + kernel_width_ - 1] - block(edges_));
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
