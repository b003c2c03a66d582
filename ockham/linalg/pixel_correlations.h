// Private to linalg/: Σ a aᵀ over the windows a of a 2-D convolution from correlations of pixels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

struct WindowShape;

/// The block of the kernel's places (i, j) and (i + d, j + e) is Σ x_{r,c} x_{r+d,c+e}ᵀ over the pixels (r, c) that
/// place (i, j) of some window meets. All pixels give R_{d,e}, the same for all (i, j): k2 + (k1 - 1)(2 k2 - 1)
/// products of channels serve for the (k1 k2)² / 2 of unfolded windows. The rows and columns that a place does not
/// meet, at the edges of the image, are taken away again.
class PixelCorrelations {
 public:
  /// Whether this is the faster way: float32 and many channels on a processor with AVX-512, kernels of 3 × 3 that move
  /// by one pixel and meet nearly all of them everywhere.
  static bool pays(const WindowShape& shape, const at::Tensor& images);

  PixelCorrelations(const WindowShape& shape, int64_t channels);
  void add(const at::Tensor& images);  // [M, C, H, W] float32, of stride and dilation 1
  at::Tensor finish() const;           // symmetric float64 [k1, k2, C, k1, k2, C]

 private:
  void add_all_pixels(const at::Tensor& room, int64_t height, int64_t width);
  void add_edges(const at::Tensor& pixels, int64_t out_height, int64_t out_width);
  int64_t kernel_height_, kernel_width_, padding_height_, padding_width_, channels_;
  at::Tensor all_;    // R, [k1, 2 k2 - 1, C, C] float64; of d = 0 only e ≥ 0
  at::Tensor edges_;  // [k1, k2, C, k1, k2, C] float64: what is taken away
};

}  // namespace ockham
