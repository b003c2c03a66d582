// Max pooling, sent back: gradients of the maxima to the pixels that they came from.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

struct PoolShape {
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t padding_height = 0, padding_width = 0;
};

/// Where the maxima of a batch of images came from, a byte each, for any number of gradients. Every pixel's sum over
/// the windows that it lies in is written once; libtorch clears the images, adds to scattered pixels by indices of
/// eight bytes, and reads and writes them again for a rectification before the pooling.
class PoolingOrigins {
 public:
  /// Whether it can be used: channels beside each other (channels_last), float32 or float64, a window of at most 254
  /// pixels that is not wider than the images. `indices` [N, C, h, w] are libtorch's, h · W + w of each maximum in
  /// `images` [N, C, H, W].
  static bool can_hold(const at::Tensor& images, const at::Tensor& indices, const PoolShape& shape);

  /// `rectified`: the images are max(0, x), and gradients are wanted at x, which get none where a maximum is not
  /// positive.
  PoolingOrigins(const at::Tensor& images, const at::Tensor& indices, const PoolShape& shape, bool rectified);

  /// [N, C, h, w] to [N, C, H, W].
  at::Tensor send_back(const at::Tensor& gradient) const;

 private:
  PoolShape shape_;
  at::Tensor origins_;  // [N, h, w, C] uint8: row-major place in the window, or kNowhere
  int64_t height_, width_;
};

}  // namespace ockham
