#include "ockham/linalg/image_windows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"
#include "ockham/linalg/halves.h"
#include "ockham/linalg/narrow_products.h"
#include "ockham/linalg/pack_pixels.h"

namespace ockham {
namespace {

constexpr int64_t kCacheFloats = int64_t{1} << 20;
constexpr int64_t kWholeVectors = 16;  // products by hand read this many numbers at once

/// [M, C, H, W] seen as [H, M, W, C] with zeros around, the channels beside each other in memory.
at::Tensor padded(const at::Tensor& images, const WindowShape& shape) {
  const at::Tensor view = images.permute({2, 0, 3, 1});
  if (shape.padding_height == 0 && shape.padding_width == 0)
    return view.stride(3) == 1 && view.stride(2) == view.size(3) ? view : view.contiguous();
  std::vector<int64_t> sizes = view.sizes().vec();
  sizes[0] += 2 * shape.padding_height;
  sizes[2] += 2 * shape.padding_width;
  at::Tensor result = at::zeros(sizes, view.options());
  result.narrow(0, shape.padding_height, view.size(0)).narrow(2, shape.padding_width, view.size(2)).copy_(view);
  return result;
}

/// The gradients of one image after the other, squared; a kernel row at a time.
struct ImageGradients {
  const at::Tensor& images;     // [M, C, H, W]
  const at::Tensor& gradients;  // [M, out, H_out, W_out]
  WindowShape shape;

  int64_t channels() const { return images.size(1); }
  int64_t outputs() const { return gradients.size(1); }
  int64_t out_height() const { return gradients.size(2); }
  int64_t out_width() const { return gradients.size(3); }
  int64_t height() const { return shape.padded_height(images); }
  int64_t row() const { return (images.size(3) + 2 * shape.padding_width) * channels(); }  // of an image, zeros around
  int64_t width() const { return shape.kernel_width * channels(); }                        // of a kernel row
  int64_t padded_width() const { return (width() + kWholeVectors - 1) / kWholeVectors * kWholeVectors; }
  /// Windows of one height overlap in memory, which products by hand do not mind.
  bool reads_image_in_place() const {
    return images.scalar_type() == at::kFloat && shape.dilation_width == 1 &&
           has_stacked_product(outputs(), padded_width());
  }

  /// What one thread needs for an image.
  template <class Scalar>
  struct Room {
    std::vector<Scalar> image;      // [H', W', C], zeros around, and a little to read behind
    std::vector<Scalar> gradients;  // [H_out·W_out, out]
    std::vector<Scalar> windows;    // [H', W_out, width], by BLAS
    std::vector<Scalar> gradient;   // [out, width], by BLAS
  };

  /// sum [out, k1, padded_width] += squares, over the images [first, last). Columns of the sum beyond the width are
  /// noise.
  template <class Scalar>
  void add_squares(int64_t first, int64_t last, Scalar* sum) const {
    Room<Scalar> room;
    room.image.assign(height() * row() + kWholeVectors, 0);
    room.gradients.resize(out_height() * out_width() * outputs());
    if (!reads_image_in_place()) {
      room.windows.resize(height() * out_width() * width());
      room.gradient.resize(outputs() * width());
    }
    Scalar* inside = room.image.data() + shape.padding_height * row() + shape.padding_width * channels();
    for (int64_t m = first; m < last; ++m) {
      pack_pixels(images, m, inside, row());
      pack_pixels(gradients, m, room.gradients.data(), out_width() * outputs());
      if (reads_image_in_place())
        add_in_place(room, sum);
      else
        add_by_blas(room, sum);
    }
  }

  void add_in_place(const Room<float>& room, float* sum) const {
    const int64_t stride = shape.kernel_height * padded_width();
    for (int64_t k = 0; k < shape.kernel_height; ++k) {
      const TallMatrices top{room.gradients.data(), outputs(), room.image.data() + k * row(),
                             shape.stride_width * channels(), out_width()};
      add_squared_product(sum + k * padded_width(), stride,
                          {top, out_height(), out_width() * outputs(), shape.stride_height * row()}, outputs(),
                          padded_width());
    }
  }
  void add_in_place(const Room<double>&, double*) const {}  // no products by hand

  template <class Scalar>
  void add_by_blas(Room<Scalar>& room, Scalar* sum) const {
    unfold(room.image.data(), room.windows.data());
    for (int64_t k = 0; k < shape.kernel_height; ++k) {
      // Rows of windows that follow each other in memory are one matrix.
      const int64_t together = shape.stride_height == 1 ? out_height() : 1;
      for (int64_t i = 0; i < out_height(); i += together)
        multiply(width(), outputs(), together * out_width(),
                 room.windows.data() + (k + i * shape.stride_height) * out_width() * width(),
                 room.gradients.data() + i * out_width() * outputs(), i == 0 ? 0 : 1, room.gradient.data());
      for (int64_t o = 0; o < outputs(); ++o) {
        Scalar* to = sum + (o * shape.kernel_height + k) * padded_width();
        const Scalar* from = room.gradient.data() + o * width();
        for (int64_t j = 0; j < width(); ++j) to[j] += from[j] * from[j];
      }
    }
  }

  template <class Scalar>
  void unfold(const Scalar* image, Scalar* to) const {
    const int64_t c = channels(), taps = shape.dilation_width == 1 ? 1 : shape.kernel_width, run = width() / taps;
    for (int64_t h = 0; h < height(); ++h)
      for (int64_t w = 0; w < out_width(); ++w)
        for (int64_t k = 0; k < taps; ++k, to += run)
          std::memcpy(to, image + h * row() + (w * shape.stride_width + k * shape.dilation_width) * c,
                      run * sizeof(Scalar));
  }

  /// keep · result + gᵀ windows, [outputs, width], of g [positions, outputs] and windows [positions, width].
  static void multiply(int64_t width, int64_t outputs, int64_t positions, const float* windows, const float* g,
                       float keep, float* result) {
    const int m = static_cast<int>(width), n = static_cast<int>(outputs), k = static_cast<int>(positions);
    const float one = 1;
    sgemm_("N", "T", &m, &n, &k, &one, windows, &m, g, &n, &keep, result, &m);
  }
  static void multiply(int64_t width, int64_t outputs, int64_t positions, const double* windows, const double* g,
                       double keep, double* result) {
    const int m = static_cast<int>(width), n = static_cast<int>(outputs), k = static_cast<int>(positions);
    const double one = 1;
    dgemm_("N", "T", &m, &n, &k, &one, windows, &m, g, &n, &keep, result, &m);
  }
};

}  // namespace

int64_t WindowShape::out_width(const at::Tensor& images) const {
  const int64_t extent = dilation_width * (kernel_width - 1) + 1;
  return (images.size(3) + 2 * padding_width - extent) / stride_width + 1;
}

at::Tensor unfold_along_width(const at::Tensor& images, const WindowShape& shape) {
  const at::Tensor rows = padded(images, shape);  // [H', M, W', C]
  const int64_t width = shape.out_width(images), channels = images.size(1);
  // A copy on purpose: where neighbouring windows overlap in memory, reshape gives a view that BLAS cannot read.
  return rows
      .as_strided({rows.size(0), rows.size(1), width, shape.kernel_width, channels},
                  {rows.stride(0), rows.stride(1), rows.stride(2) * shape.stride_width,
                   rows.stride(2) * shape.dilation_width, rows.stride(3)},
                  rows.storage_offset())
      .contiguous()
      .view({rows.size(0), rows.size(1), width, shape.kernel_width * channels});
}

WindowGram::WindowGram(const WindowShape& shape, int64_t channels)
    : shape_(shape),
      channels_(channels),
      unshifted_{GramAccumulator(shape.kernel_width * channels), {}},
      shifted_(shape.kernel_height - 1) {
  unshifted_.edges.assign(2 * (shape.kernel_height - 1), GramAccumulator(shape.kernel_width * channels));
  for (size_t i = 0; i < shifted_.size(); ++i) shifted_[i].edges.resize(2 * (shifted_.size() - 1 - i));
}

void WindowGram::add(const at::Tensor& images) {
  const int64_t out_height = shape_.out_height(images);
  if (out_height < shape_.kernel_height) {
    throw Error(ErrorKind::usage,
                "WindowGram needs images with at least as many rows of windows as a window has rows; unfold such small "
                "images instead.");
  }
  if (!correlations_ && PixelCorrelations::pays(shape_, images)) correlations_.emplace(channels_);
  if (correlations_) return correlations_->add(images);
  // In pieces that stay in the cache.
  const int64_t floats = shape_.padded_height(images) * shape_.out_width(images) * shape_.kernel_width * channels_;
  const int64_t piece = std::max<int64_t>(1, kCacheFloats / floats);
  for (int64_t first = 0; first < images.size(0); first += piece)
    add_some(images.narrow(0, first, std::min(piece, images.size(0) - first)));
}

void WindowGram::add_some(const at::Tensor& images) {
  const int64_t out_height = shape_.out_height(images);
  const at::Tensor rows = unfold_along_width(images, shape_);
  const auto heights = [&](int64_t first, int64_t count) { return rows.narrow(0, first, count).flatten(0, 2); };
  const int64_t last = shape_.kernel_height - 1;
  for (int64_t shift = 0; shift <= last; ++shift) {
    // The windows of kernel row i have the heights i … i + H_out - 1 for i = 0 … span.
    const int64_t span = last - shift;
    const auto add_heights = [&](int64_t first, int64_t count, int64_t edge) {
      if (shift == 0)
        (edge < 0 ? unshifted_.common : unshifted_.edges[edge]).add(heights(first, count));
      else
        (edge < 0 ? shifted_[shift - 1].common : shifted_[shift - 1].edges[edge])
            .add(heights(first, count), heights(first + shift, count));
    };
    add_heights(span, out_height - span, -1);
    for (int64_t i = 0; i < span; ++i) {
      add_heights(i, 1, i);
      add_heights(out_height + i, 1, span + i);
    }
  }
}

at::Tensor WindowGram::finish() {
  const int64_t height = shape_.kernel_height, width = shape_.kernel_width * channels_;
  const auto in_weight_order = [&](const at::Tensor& blocks) {
    return blocks.view({height, shape_.kernel_width, channels_, height, shape_.kernel_width, channels_})
        .permute({2, 0, 1, 5, 3, 4})
        .reshape({height * width, height * width});
  };
  if (correlations_) return in_weight_order(correlations_->finish());
  at::Tensor result = at::zeros({height, width, height, width}, at::kDouble);
  for (int64_t shift = 0; shift < height; ++shift) {
    const int64_t span = height - 1 - shift;
    at::Tensor common = shift == 0 ? unshifted_.common.finish() : shifted_[shift - 1].common.finish();
    if (!common.defined()) break;
    std::vector<at::Tensor> edges;
    for (int64_t e = 0; e < 2 * span; ++e)
      edges.push_back(shift == 0 ? unshifted_.edges[e].finish() : shifted_[shift - 1].edges[e].finish());
    for (int64_t row = 0; row <= span; ++row) {
      at::Tensor block = result.select(0, row).select(1, row + shift);
      block.copy_(common);
      for (int64_t i = row; i < span; ++i) block.add_(edges[i]);
      for (int64_t i = 0; i < row; ++i) block.add_(edges[span + i]);
      if (shift > 0) result.select(0, row + shift).select(1, row).copy_(block.t());
    }
  }
  return in_weight_order(result);
}

void add_squared_gradients(at::Tensor& sum, const at::Tensor& gradients, const at::Tensor& images,
                           const WindowShape& shape) {
  const ImageGradients work{images, gradients, shape};
  const int64_t count = images.size(0), half = (count + 1) / 2;
  at::Tensor halves = at::zeros({2, work.outputs(), shape.kernel_height, work.padded_width()}, sum.options());
  const SingleBlasThread single;
  AT_DISPATCH_FLOATING_TYPES(images.scalar_type(), "add_squared_gradients", [&] {
    run_in_halves({[&](int which) {
      work.add_squares(which * half, which == 0 ? half : count, halves.data_ptr<scalar_t>() + which * halves.stride(0));
    }});
  });
  sum.view({work.outputs(), shape.kernel_height, work.width()}).add_(halves.sum(0).narrow(2, 0, work.width()));
}

}  // namespace ockham
