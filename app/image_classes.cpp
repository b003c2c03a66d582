#include "app/image_classes.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/counted.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

bool are_numbered(const std::vector<std::string>& classes) {
  for (size_t k = 0; k < classes.size(); ++k)
    if (classes[k] != std::to_string(k)) return false;
  return true;
}

}  // namespace

const char* layout_words(ImageLayout layout) {
  switch (layout) {
    case ImageLayout::idx:
      return "IDX";
    case ImageLayout::cifar10:
      return "CIFAR-10 binary";
    case ImageLayout::cifar100:
      return "CIFAR-100 binary";
    default:
      return "folders by class";
  }
}

void expect_same_images(c10::IntArrayRef shape, const ImageSet& set) {
  const auto found = set.images.sizes().slice(1);
  if (found == shape) return;
  const auto words = [](c10::IntArrayRef sizes) {
    return fmt::format("{} × {} pixels and {}", sizes[1], sizes[2], counted(sizes[0], "channel"));
  };
  throw Error(ErrorKind::data, fmt::format("{}: its images have {}, but those of training {}; bring them to that size",
                                           set.name, words(found), words(shape)));
}

ImageSet read_test_images(const std::string& directory) {
  ImageDirectory read = read_image_directory(directory);
  return read.test ? std::move(*read.test) : std::move(read.training);
}

at::Tensor labels_among(const std::vector<std::string>& classes, const ImageSet& set) {
  if (!set.labels.defined()) return {};
  if (set.classes == classes) return set.labels;
  const bool by_number = set.classes.size() == classes.size() && (are_numbered(set.classes) || are_numbered(classes));
  std::vector<int64_t> places;
  for (size_t k = 0; k < set.classes.size(); ++k) {
    const auto found = std::find(classes.begin(), classes.end(), set.classes[k]);
    if (found == classes.end() && !by_number)
      throw Error(ErrorKind::data,
                  fmt::format("{}: its class '{}' was not in training, whose classes are {}; to predict "
                              "without classes, give one folder of images",
                              set.name, set.classes[k], fmt::join(classes, ", ")));
    places.push_back(by_number ? static_cast<int64_t>(k) : found - classes.begin());
  }
  return at::tensor(places, at::kLong).index_select(0, set.labels);
}

}  // namespace ockham::app
