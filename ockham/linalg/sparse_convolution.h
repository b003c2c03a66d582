// Gradients at the outputs of a convolution sent back to its images, without the work for those that are zero.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

struct ConvolutionShape {
  int64_t stride_height = 1, stride_width = 1;
  int64_t padding_height = 0, padding_width = 0;
};

/// Max pooling leaves three of four gradients zero, a rectification half of them. Every other one, g at a pixel and a
/// channel o, adds g times the weight's [kh, kw, C] of o to a window of the image, whose rows of kw · C numbers lie
/// together: they stay in registers while the pixel's channels are gone through. No unfolding, and no dense product.
class SparseConvolution {
 public:
  /// Whether it can be used: float32, a whole number of vectors of channels, and a processor that has wide vectors.
  static bool can_hold(const at::Tensor& weight);

  /// `weight` [O, C, kh, kw], not dilated, one group.
  SparseConvolution(const at::Tensor& weight, const ConvolutionShape& shape);

  /// Whether so few gradients (of a sample of the images) differ from zero that it pays.
  static bool pays(const at::Tensor& gradient);

  /// [N, O, h, w], channels_last, to [N, C, height, width].
  at::Tensor send_back(const at::Tensor& gradient, int64_t height, int64_t width) const;

 private:
  ConvolutionShape shape_;
  int64_t outputs_, channels_, kernel_height_, kernel_width_;
  at::Tensor packed_;  // [kh], then blocks of vectors of a window's row, then [O][block]
};

}  // namespace ockham
