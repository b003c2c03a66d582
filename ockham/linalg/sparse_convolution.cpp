#include "ockham/linalg/sparse_convolution.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ockham/base/error.h"
#include "ockham/linalg/halves.h"

namespace ockham {

#if defined(__GNUC__) && defined(__x86_64__)
namespace {

#define OCKHAM_WIDE_VECTORS __attribute__((target("avx512f")))
#define OCKHAM_WIDE_VECTORS_INLINE __attribute__((target("avx512f"), always_inline)) inline

constexpr int64_t kLanes = 16;
constexpr int64_t kBlockBytes = 28 << 10;  // of the weights at once: they stay in the first-level cache
constexpr double kDense = 0.4;             // from this share of non-zero gradients on libtorch's products are as fast

typedef float Floats __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));

/// One gradient that is not zero.
struct Entry {
  float value;
  int32_t output;
};

/// The non-zero gradients of one image, pixel by pixel.
struct Entries {
  std::vector<Entry> all;
  std::vector<int64_t> begin;  // of each pixel, and the end
};

void find_entries(const float* gradient, int64_t pixels, int64_t outputs, Entries& entries) {
  entries.all.resize(pixels * outputs);
  entries.begin.resize(pixels + 1);
  Entry* next = entries.all.data();
  for (int64_t p = 0; p < pixels; ++p, gradient += outputs) {
    entries.begin[p] = next - entries.all.data();
    for (int64_t o = 0; o < outputs; ++o) {  // written always, kept when not zero: no branch to guess
      *next = {gradient[o], static_cast<int32_t>(o)};
      next += gradient[o] != 0 ? 1 : 0;
    }
  }
  entries.begin[pixels] = next - entries.all.data();
}

// row[0 .. V vectors) += Σ over the entries of value · weights[output].
template <int vectors>
OCKHAM_WIDE_VECTORS_INLINE void add_entries(float* row, const Entry* first, const Entry* last, const float* weights) {
  Floats sums[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) std::memcpy(&sums[v], row + v * kLanes, sizeof(Floats));
  for (const Entry* entry = first; entry != last; ++entry) {
    const float* weight = weights + entry->output * (vectors * kLanes);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      Floats other;
      std::memcpy(&other, weight + v * kLanes, sizeof(Floats));
      sums[v] += entry->value * other;
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) std::memcpy(row + v * kLanes, &sums[v], sizeof(Floats));
}

/// All pixels of an image and one block of the weights: pixel (i, j) adds to image + i · down + j · right.
struct Sweep {
  float* image;
  int64_t down, right;
  const Entries& entries;
  int64_t rows, columns;
  const float* weights;
};

template <int vectors>
OCKHAM_WIDE_VECTORS void sweep(const Sweep& over) {
  const int64_t* begin = over.entries.begin.data();
  const Entry* all = over.entries.all.data();
  for (int64_t i = 0; i < over.rows; ++i)
    for (int64_t j = 0; j < over.columns; ++j, ++begin)
      add_entries<vectors>(over.image + i * over.down + j * over.right, all + begin[0], all + begin[1], over.weights);
}

void sweep(const Sweep& over, int64_t vectors) {
  switch (vectors) {
    case 6:
      return sweep<6>(over);
    case 4:
      return sweep<4>(over);
    case 3:
      return sweep<3>(over);
    case 2:
      return sweep<2>(over);
    default:
      return sweep<1>(over);
  }
}

/// Vectors of the next block when `left` of a row are left to do.
int64_t block_vectors(int64_t left, int64_t outputs) {
  for (const int64_t vectors : {6, 4, 3, 2})
    if (vectors <= left && outputs * vectors * kLanes * static_cast<int64_t>(sizeof(float)) <= kBlockBytes)
      return vectors;
  return 1;
}

}  // namespace

bool SparseConvolution::can_hold(const at::Tensor& weight) {
  static const bool has_wide_vectors = __builtin_cpu_supports("avx512f");
  return has_wide_vectors && weight.dim() == 4 && weight.scalar_type() == at::kFloat && weight.is_cpu() &&
         weight.size(1) % kLanes == 0;
}

bool SparseConvolution::pays(const at::Tensor& gradient) {
  constexpr int64_t kSample = 4;  // images, spread over the batch
  const int64_t step = std::max<int64_t>(1, gradient.size(0) / kSample);
  const at::Tensor some = gradient.slice(0, step / 2, gradient.size(0), step);
  return some.numel() > 0 && at::count_nonzero(some).item<double>() < kDense * static_cast<double>(some.numel());
}

SparseConvolution::SparseConvolution(const at::Tensor& weight, const ConvolutionShape& shape)
    : shape_(shape),
      outputs_(weight.size(0)),
      channels_(weight.size(1)),
      kernel_height_(weight.size(2)),
      kernel_width_(weight.size(3)) {
  const at::Tensor rows =
      weight.detach().permute({2, 0, 3, 1}).reshape({kernel_height_, outputs_, -1});  // [kh, O, kw·C]
  std::vector<at::Tensor> blocks;
  for (int64_t k = 0; k < kernel_height_; ++k) {
    for (int64_t first = 0; first < rows.size(2);) {
      const int64_t width = block_vectors((rows.size(2) - first) / kLanes, outputs_) * kLanes;
      blocks.push_back(rows[k].narrow(1, first, width).reshape(-1));
      first += width;
    }
  }
  packed_ = at::cat(blocks);
}

at::Tensor SparseConvolution::send_back(const at::Tensor& gradient, int64_t height, int64_t width) const {
  const int64_t count = gradient.size(0), rows = gradient.size(2), columns = gradient.size(3);
  const at::Tensor from = gradient.contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor result = at::empty({count, channels_, height, width}, gradient.options().requires_grad(false),
                                      at::MemoryFormat::ChannelsLast);
  // What lies beyond the image is written and forgotten.
  const int64_t padded_height =
      std::max(height + 2 * shape_.padding_height, (rows - 1) * shape_.stride_height + kernel_height_);
  const int64_t padded_width =
      std::max(width + 2 * shape_.padding_width, (columns - 1) * shape_.stride_width + kernel_width_);
  const int64_t line = padded_width * channels_, window = kernel_width_ * channels_;
  run_in_halves({[&](int half) {
    std::vector<float> image(padded_height * line);
    Entries entries;
    const int64_t middle = count / 2;
    for (int64_t n = half == 0 ? 0 : middle; n < (half == 0 ? middle : count); ++n) {
      find_entries(from.data_ptr<float>() + n * rows * columns * outputs_, rows * columns, outputs_, entries);
      std::fill(image.begin(), image.end(), 0.0f);
      const float* weights = packed_.data_ptr<float>();
      for (int64_t k = 0; k < kernel_height_; ++k) {
        for (int64_t first = 0; first < window;) {
          const int64_t vectors = block_vectors((window - first) / kLanes, outputs_);
          sweep({image.data() + k * line + first, shape_.stride_height * line, shape_.stride_width * channels_, entries,
                 rows, columns, weights},
                vectors);
          weights += outputs_ * vectors * kLanes;
          first += vectors * kLanes;
        }
      }
      float* to = result.data_ptr<float>() + n * height * width * channels_;
      const float* inside = image.data() + shape_.padding_height * line + shape_.padding_width * channels_;
      for (int64_t h = 0; h < height; ++h)
        std::copy_n(inside + h * line, width * channels_, to + h * width * channels_);
    }
  }});
  return result;
}

#else

bool SparseConvolution::can_hold(const at::Tensor&) { return false; }
bool SparseConvolution::pays(const at::Tensor&) { return false; }
SparseConvolution::SparseConvolution(const at::Tensor&, const ConvolutionShape&) {}
at::Tensor SparseConvolution::send_back(const at::Tensor&, int64_t, int64_t) const {
  throw Error(ErrorKind::usage, "This processor has no sparse convolutions; ask can_hold first.");
}

#endif

}  // namespace ockham
