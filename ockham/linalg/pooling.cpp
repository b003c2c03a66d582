#include "ockham/linalg/pooling.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ockham/linalg/halves.h"

namespace ockham {
namespace {

constexpr uint8_t kNowhere = 255;

/// One window that a pixel lies in.
template <class Scalar>
struct Window {
  const Scalar* gradient;
  const uint8_t* origins;
  uint8_t place;  // the pixel's in the window
};

// to[c] = Σ over the windows whose maximum of channel c this pixel was, for channels from `first` on.
template <class Scalar>
void write_channels(Scalar* to, const std::vector<Window<Scalar>>& windows, int64_t first, int64_t channels) {
  for (int64_t c = first; c < channels; ++c) {
    Scalar sum = 0;
    for (const Window<Scalar>& window : windows)
      if (window.origins[c] == window.place) sum += window.gradient[c];
    to[c] = sum;
  }
}

void write(double* to, const std::vector<Window<double>>& windows, int64_t channels) {
  write_channels(to, windows, 0, channels);
}

#if defined(__GNUC__) && defined(__x86_64__)
constexpr int64_t kLanes = 16;
typedef uint8_t Origins __attribute__((vector_size(kLanes)));
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
typedef int32_t Masks __attribute__((vector_size(kLanes * sizeof(int32_t))));

__attribute__((target("avx512f"))) void write_wide(float* to, const std::vector<Window<float>>& windows,
                                                   int64_t channels) {
  for (int64_t c = 0; c + kLanes <= channels; c += kLanes) {
    Floats sum = {};
    for (const Window<float>& window : windows) {
      Floats gradient;
      Origins origins;
      std::memcpy(&gradient, window.gradient + c, sizeof gradient);
      std::memcpy(&origins, window.origins + c, sizeof origins);
      const Masks here = __builtin_convertvector(origins, Masks) == window.place;
      sum += here ? gradient : Floats{};
    }
    std::memcpy(to + c, &sum, sizeof sum);
  }
}

void write(float* to, const std::vector<Window<float>>& windows, int64_t channels) {
  static const bool has_wide_vectors = __builtin_cpu_supports("avx512f");
  if (has_wide_vectors) write_wide(to, windows, channels);
  write_channels(to, windows, has_wide_vectors ? channels / kLanes * kLanes : 0, channels);
}
#else
void write(float* to, const std::vector<Window<float>>& windows, int64_t channels) {
  write_channels(to, windows, 0, channels);
}
#endif

/// The windows [first, last) that a row or column lies in.
struct Covering {
  int64_t first, last;
  Covering(int64_t at, int64_t kernel, int64_t stride, int64_t padding, int64_t windows) {
    const int64_t end = at + padding;  // in padded pixels
    first = end < kernel ? 0 : (end - kernel) / stride + 1;
    last = std::min(end / stride + 1, windows);
  }
};

template <class Work>
void for_images(int64_t count, const Work& work) {
  run_in_halves({[&](int half) {
    const int64_t middle = count / 2;
    for (int64_t n = half == 0 ? 0 : middle; n < (half == 0 ? middle : count); ++n) work(n);
  }});
}

}  // namespace

bool PoolingOrigins::can_hold(const at::Tensor& images, const at::Tensor& indices, const PoolShape& shape) {
  const auto beside = [](const at::Tensor& t) {
    return t.dim() == 4 && t.is_contiguous(at::MemoryFormat::ChannelsLast) && t.numel() > 0;
  };
  return beside(images) && beside(indices) && images.size(1) > 1 && indices.scalar_type() == at::kLong &&
         (images.scalar_type() == at::kFloat || images.scalar_type() == at::kDouble) && images.is_cpu() &&
         shape.kernel_height * shape.kernel_width < kNowhere && shape.kernel_width <= images.size(3);
}

PoolingOrigins::PoolingOrigins(const at::Tensor& images, const at::Tensor& indices, const PoolShape& shape,
                               bool rectified)
    : shape_(shape), height_(images.size(2)), width_(images.size(3)) {
  const int64_t channels = images.size(1), rows = indices.size(2), columns = indices.size(3);
  origins_ = at::empty({indices.size(0), rows, columns, channels}, at::kByte);
  // Of the distance in the image between a window's first pixel and another one of it.
  std::vector<uint8_t> place_at(shape.kernel_height * width_, kNowhere);
  for (int64_t i = 0; i < shape.kernel_height; ++i)
    for (int64_t j = 0; j < shape.kernel_width; ++j)
      place_at[i * width_ + j] = static_cast<uint8_t>(i * shape.kernel_width + j);
  AT_DISPATCH_FLOATING_TYPES(images.scalar_type(), "PoolingOrigins", [&] {
    for_images(indices.size(0), [&](int64_t n) {
      const scalar_t* image = images.data_ptr<scalar_t>() + n * height_ * width_ * channels;
      const int64_t* index = indices.data_ptr<int64_t>() + n * rows * columns * channels;
      uint8_t* to = origins_.data_ptr<uint8_t>() + n * rows * columns * channels;
      for (int64_t h = 0; h < rows; ++h) {
        for (int64_t w = 0; w < columns; ++w, index += channels, to += channels) {
          const int64_t corner =
              (h * shape.stride_height - shape.padding_height) * width_ + w * shape.stride_width - shape.padding_width;
          for (int64_t c = 0; c < channels; ++c) {
            const bool passes = !rectified || !(image[index[c] * channels + c] <= 0);
            to[c] = passes ? place_at[index[c] - corner] : kNowhere;
          }
        }
      }
    });
  });
}

at::Tensor PoolingOrigins::send_back(const at::Tensor& gradient) const {
  const int64_t count = origins_.size(0), rows = origins_.size(1), columns = origins_.size(2),
                channels = origins_.size(3);
  const at::Tensor from = gradient.contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor result = at::empty({count, channels, height_, width_}, gradient.options().requires_grad(false),
                                      at::MemoryFormat::ChannelsLast);
  AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "send_back", [&] {
    for_images(count, [&](int64_t n) {
      const scalar_t* gradients = from.data_ptr<scalar_t>() + n * rows * columns * channels;
      const uint8_t* origins = origins_.data_ptr<uint8_t>() + n * rows * columns * channels;
      scalar_t* to = result.data_ptr<scalar_t>() + n * height_ * width_ * channels;
      std::vector<Window<scalar_t>> windows;
      for (int64_t h = 0; h < height_; ++h) {
        const Covering above(h, shape_.kernel_height, shape_.stride_height, shape_.padding_height, rows);
        for (int64_t w = 0; w < width_; ++w, to += channels) {
          const Covering beside(w, shape_.kernel_width, shape_.stride_width, shape_.padding_width, columns);
          windows.clear();
          for (int64_t i = above.first; i < above.last; ++i) {
            for (int64_t j = beside.first; j < beside.last; ++j) {
              const int64_t at = (i * columns + j) * channels;
              const int64_t place = (h + shape_.padding_height - i * shape_.stride_height) * shape_.kernel_width + w +
                                    shape_.padding_width - j * shape_.stride_width;
              windows.push_back({gradients + at, origins + at, static_cast<uint8_t>(place)});
            }
          }
          write(to, windows, channels);
        }
      }
    });
  });
  return result;
}

}  // namespace ockham
