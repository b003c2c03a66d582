// Private to linalg/: Σ a aᵀ over the windows a of a 2-D convolution from correlations of pixels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

struct WindowShape;

/// The block of the places (i, j) and (i + d, j + e) of a 3 × 3 kernel is Σ x_{r,c} x_{r+d,c+e}ᵀ over the pixels (r, c)
/// that place (i, j) of some window meets. All pixels give R_{d,e}, the same for all (i, j): 13 products of channels
/// serve for the 40.5 of unfolded windows. With one pixel of padding, places in the first row of the kernel do not meet
/// the last row of the image, and so on; such a line of pixels is taken away again, where its partners are in the image
/// at all: rows for d = 0, columns for e = 0.
class PixelCorrelations {
 public:
  /// Whether this is the faster way: float32 and many channels on a processor with AVX-512, kernels of 3 × 3 that move
  /// by one pixel and meet nearly all of them everywhere.
  static bool pays(const WindowShape& shape, const at::Tensor& images);

  explicit PixelCorrelations(int64_t channels);
  void add(const at::Tensor& images);  // [M, C, H, W] float32
  at::Tensor finish() const;           // symmetric float64 [3, 3, C, 3, 3, C]

 private:
  void add_all_pixels(const at::Tensor& images);
  void add_edges(const at::Tensor& images);
  at::Tensor edge(int64_t i, int64_t j, int64_t d, int64_t e) const;  // what is taken away from a block, [C, C]
  int64_t channels_;
  at::Tensor all_;      // R, [3, 5, C, C] float64; of d = 0 only e ≥ 0
  at::Tensor rows_;     // [2, C, 3, C]: of the last row of pixels and of the first one, by e
  at::Tensor columns_;  // the same of columns, by d
  at::Tensor corners_;  // [2, 2, C, C]: of the pixel in the last or first row, and the last or first column
};

}  // namespace ockham
