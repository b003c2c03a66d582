#include "ockham/data/augment.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ockham/base/error.h"

namespace ockham {
namespace {

/// Where a crop begins, counted from the image itself (negative: in the padding above or left of it).
struct Draw {
  int64_t down = 0, right = 0;
  bool flip = false;
};

/// One plane [height, width]; `target` is zero already. The flip comes after the crop.
template <class Element>
void copy_plane(const Element* source, Element* target, int64_t height, int64_t width, const Draw& draw) {
  const int64_t first_row = std::max<int64_t>(0, -draw.down), row_end = std::min(height, height - draw.down);
  const int64_t first = std::max<int64_t>(0, -draw.right), count = width - std::abs(draw.right);
  if (count <= 0) return;
  for (int64_t row = first_row; row < row_end; ++row) {
    const Element* from = source + (row + draw.down) * width + first + draw.right;
    Element* to = target + row * width;
    if (draw.flip) {
      std::reverse_copy(from, from + count, to + (width - first - count));
    } else {
      std::memcpy(to + first, from, static_cast<size_t>(count) * sizeof(Element));
    }
  }
}

/// Only moves values, so a type of the same size stands for all.
template <class Element>
void copy_images(const at::Tensor& images, at::Tensor& result, const std::vector<Draw>& draws) {
  const int64_t channels = images.size(1), height = images.size(2), width = images.size(3);
  const auto* source = static_cast<const Element*>(images.data_ptr());
  auto* target = static_cast<Element*>(result.data_ptr());
  for (size_t image = 0; image < draws.size(); ++image) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t plane = (static_cast<int64_t>(image) * channels + channel) * height * width;
      copy_plane(source + plane, target + plane, height, width, draws[image]);
    }
  }
}

std::vector<Draw> draw_changes(int64_t count, const AugmentOptions& options, const at::Generator& generator) {
  std::vector<Draw> draws(static_cast<size_t>(count));
  if (options.crop_padding > 0) {
    const at::Tensor offsets = at::randint(0, 2 * options.crop_padding + 1, {count, 2}, generator, at::kLong);
    const auto at_image = offsets.accessor<int64_t, 2>();
    for (int64_t image = 0; image < count; ++image) {
      draws[image].down = at_image[image][0] - options.crop_padding;
      draws[image].right = at_image[image][1] - options.crop_padding;
    }
  }
  if (options.flip) {
    const at::Tensor coins = at::randint(0, 2, {count}, generator, at::kLong);
    const auto at_image = coins.accessor<int64_t, 1>();
    for (int64_t image = 0; image < count; ++image) draws[image].flip = at_image[image] == 1;
  }
  return draws;
}

}  // namespace

at::Tensor augment(const at::Tensor& images, const AugmentOptions& options, at::Generator generator) {
  if (images.dim() != 4) {
    throw Error(ErrorKind::usage,
                fmt::format("augmentation is for images [B, channels, height, width], but these inputs have {} "
                            "dimensions; leave it out",
                            images.dim()));
  }
  if (options.crop_padding < 0) {
    throw Error(ErrorKind::usage,
                fmt::format("the padding of a random crop must not be negative, but is {}", options.crop_padding));
  }
  const std::vector<Draw> draws = draw_changes(images.size(0), options, generator);
  const at::Tensor source = images.contiguous();
  at::Tensor result = at::zeros(source.sizes(), source.options());
  switch (source.element_size()) {
    case 1:
      copy_images<uint8_t>(source, result, draws);
      break;
    case 2:
      copy_images<uint16_t>(source, result, draws);
      break;
    case 4:
      copy_images<uint32_t>(source, result, draws);
      break;
    case 8:
      copy_images<uint64_t>(source, result, draws);
      break;
    default:
      throw Error(ErrorKind::usage, "augmentation is for bytes and real numbers");
  }
  return result;
}

}  // namespace ockham
