// Private to linalg/: an image with the channels of a pixel beside each other.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

/// Image m of [M, C, H, W], whatever its strides, to rows of pixels of C numbers; rows are `row` numbers apart. One
/// image at a time stays in the cache, where a copy of all of them is written to memory and read again.
template <class Scalar>
void pack_pixels(const at::Tensor& images, int64_t m, Scalar* to, int64_t row) {
  const int64_t channels = images.size(1), height = images.size(2), width = images.size(3);
  const int64_t step = images.stride(3);
  const Scalar* image = images.data_ptr<Scalar>() + m * images.stride(0);
  for (int64_t h = 0; h < height; ++h) {
    for (int64_t c = 0; c < channels; ++c) {
      const Scalar* from = image + c * images.stride(1) + h * images.stride(2);
      Scalar* place = to + h * row + c;
      for (int64_t w = 0; w < width; ++w) place[w * channels] = from[w * step];
    }
  }
}

}  // namespace ockham
