#include "ockham/data/image_set.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ockham/base/error.h"

namespace ockham {

ImageSet take_images(const ImageSet& set, const at::Tensor& rows) {
  ImageSet taken{set.name, set.images.index_select(0, rows), {}, set.classes, {}};
  if (set.labels.defined()) taken.labels = set.labels.index_select(0, rows);
  if (!set.files.empty()) {
    const auto row = rows.accessor<int64_t, 1>();
    for (int64_t i = 0; i < rows.size(0); ++i) taken.files.push_back(set.files[static_cast<size_t>(row[i])]);
  }
  return taken;
}

ImageSet draw_images(const ImageSet& set, int64_t count, at::Generator generator) {
  const at::Tensor order = at::randperm(set.size(), generator, at::kLong);
  return take_images(set, std::get<0>(order.narrow(0, 0, count).sort()));
}

ImageScaling learn_scaling(const ImageSet& training) {
  if (training.images.dim() != 4 || training.images.numel() == 0 || training.images.scalar_type() != at::kByte)
    throw Error(ErrorKind::data, fmt::format("{}: there are no images to learn a scaling from", training.name));
  const at::Tensor images = training.images.contiguous();
  const int64_t channels = images.size(1), pixels = images.size(2) * images.size(3);
  const auto* bytes = images.data_ptr<uint8_t>();
  ImageScaling scaling;
  for (int64_t channel = 0; channel < channels; ++channel) {
    // Counting the 256 values makes both moments exact, whatever the number of images.
    std::array<int64_t, 256> counts{};
    for (int64_t image = 0; image < images.size(0); ++image) {
      const uint8_t* plane = bytes + (image * channels + channel) * pixels;
      for (int64_t pixel = 0; pixel < pixels; ++pixel) ++counts[plane[pixel]];
    }
    const auto total = static_cast<double>(images.size(0) * pixels);
    double mean = 0, variance = 0;
    for (size_t value = 0; value < 256; ++value) mean += static_cast<double>(value) / 255 * (counts[value] / total);
    for (size_t value = 0; value < 256; ++value)
      variance += std::pow(static_cast<double>(value) / 255 - mean, 2) * (counts[value] / total);
    scaling.mean.push_back(mean);
    const bool varies = *std::max_element(counts.begin(), counts.end()) < images.size(0) * pixels;
    scaling.sd.push_back(varies ? std::sqrt(variance) : 1);
  }
  return scaling;
}

}  // namespace ockham
