// The windows that a 2-D convolution multiplies its weight with, for sums over all of them. Images are unfolded along
// their width only: a window that begins a row further down is made of the same rows, so k2 copies of an image serve
// where unfolding makes k1·k2, and products of rows are shared by windows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ockham/linalg/gram.h"
#include "ockham/linalg/pixel_correlations.h"

namespace ockham {

/// A convolution of kernel k1 × k2.
struct WindowShape {
  int64_t kernel_height = 1, kernel_width = 1;  // k1, k2
  int64_t padding_height = 0, padding_width = 0;
  int64_t stride_width = 1, dilation_width = 1;
  int64_t stride_height = 1;

  int64_t padded_height(const at::Tensor& images) const { return images.size(2) + 2 * padding_height; }
  int64_t out_height(const at::Tensor& images) const {
    return (padded_height(images) - kernel_height) / stride_height + 1;
  }
  int64_t out_width(const at::Tensor& images) const;
};

/// Images [M, C, H, W] to [H + 2·padding, M, W_out, k2·C], features in the order [k2][C]: rows first, so that some
/// rows of all images are one matrix.
at::Tensor unfold_along_width(const at::Tensor& images, const WindowShape& shape);

/// Σ a aᵀ over all windows a of all images, which move down by one row at a time. With u_p the rows of all images at
/// height p, Σ over windows of the block of kernel rows i and i + d is Σ_p u_pᵀ u_{p+d}, p = i … i + H_out - 1: what
/// all i have in common is computed once.
class WindowGram {
 public:
  WindowGram(const WindowShape& shape, int64_t channels);
  /// The images of a batch need at least k1 rows of windows.
  void add(const at::Tensor& images);
  /// Symmetric float64 [C·k1·k2]², in the order of a convolution's weight, [C][k1][k2].
  at::Tensor finish();

 private:
  void add_some(const at::Tensor& images);
  WindowShape shape_;
  int64_t channels_;
  // For shift 0, then for the shifts d > 0: heights common to all windows, and each height at the edges on its own,
  // from the top, then below the common ones; k1 - 1 - d of both.
  struct Sums {
    GramAccumulator common;
    std::vector<GramAccumulator> edges;
  };
  struct CrossSums {
    CrossAccumulator common;
    std::vector<CrossAccumulator> edges;
  };
  std::optional<PixelCorrelations> correlations_;  // instead of all sums, where it pays
  Sums unshifted_;
  std::vector<CrossSums> shifted_;  // by d - 1
};

/// sum [out, k1·k2·C] += Σ_m (gradient of image m)², elementwise; that gradient is Σ over positions of g aᵀ, g [M, out,
/// H_out, W_out] and the windows a in the order [k1][k2][C]. No image's gradient leaves the cache.
void add_squared_gradients(at::Tensor& sum, const at::Tensor& gradients, const at::Tensor& images,
                           const WindowShape& shape);

}  // namespace ockham
