#include "app/image_arrays.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "ockham/base/error.h"
#include "ockham/data/npy.h"

namespace ockham::app {
namespace {

bool are_whole(const at::Tensor& values) {
  return !values.is_floating_point() || values.eq(values.round()).all().item<bool>();
}

/// Labels as the indices of their sorted distinct values, which name the classes.
void add_labels(const std::string& path, ImageSet& set) {
  const at::Tensor values = read_npy(path);
  if (values.dim() < 1 || values.numel() != values.size(0) || values.size(0) != set.size())
    throw Error(ErrorKind::data, fmt::format("{}: an array of shape [{}] came; the labels of {} images are one number "
                                             "each, [{}]",
                                             path, fmt::join(values.sizes(), ", "), set.size(), set.size()));
  if (!are_whole(values))
    throw Error(ErrorKind::data, fmt::format("{}: labels of images are whole numbers, but there are fractions; to "
                                             "predict a number, give the images as rows [N, D]",
                                             path));
  const auto [distinct, places, counts] = at::_unique2(values.reshape(-1).to(at::kLong), /*sorted=*/true,
                                                       /*return_inverse=*/true);
  set.labels = places;
  for (int64_t k = 0; k < distinct.numel(); ++k) set.classes.push_back(std::to_string(distinct[k].item<int64_t>()));
}

}  // namespace

bool are_image_arrays(const std::string& path) { return read_npy(path).dim() >= 3; }

at::Tensor read_image_array(const std::string& path) {
  at::Tensor images = read_npy(path);
  if (images.dim() == 3) images = images.unsqueeze(1);
  if (images.dim() != 4 || images.numel() == 0)
    throw Error(ErrorKind::data, fmt::format("{}: an array of shape [{}] came; images are [N, C, H, W] or [N, H, W]",
                                             path, fmt::join(images.sizes(), ", ")));
  if (images.scalar_type() == at::kByte) return images;
  if (images.is_floating_point()) return images.to(at::kFloat);
  const auto [lowest, highest] = at::aminmax(images.to(at::kLong));
  const bool bytes = lowest.item<int64_t>() >= 0 && highest.item<int64_t>() <= 255;
  return images.to(bytes ? at::kByte : at::kFloat);
}

ImageSet read_image_arrays(const std::string& images, const std::string& labels) {
  ImageSet set;
  set.name = std::filesystem::path(images).filename().string();
  set.images = read_image_array(images);
  if (!labels.empty()) add_labels(labels, set);
  return set;
}

ImageScaling scaling_of(const ImageSet& training) {
  if (training.images.scalar_type() == at::kByte) return learn_scaling(training);
  ImageScaling scaling;
  for (int64_t channel = 0; channel < training.images.size(1); ++channel) {
    const at::Tensor values = training.images.select(1, channel).to(at::kDouble);
    const double sd = values.std(/*unbiased=*/false).item<double>();
    scaling.mean.push_back(values.mean().item<double>() / 255);
    scaling.sd.push_back((sd > 0 ? sd : 1) / 255);
  }
  return scaling;
}

}  // namespace ockham::app
