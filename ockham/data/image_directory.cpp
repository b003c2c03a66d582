#include "ockham/data/image_directory.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/data/cifar.h"
#include "ockham/data/idx.h"
#include "ockham/data/image_folder.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path, why));
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// The plain file, the packed one, or the first of the two when neither is there.
fs::path plain_or_packed(const fs::path& path) {
  fs::path packed = path;
  packed += ".gz";
  return !is_file(path) && is_file(packed) ? packed : path;
}

/// Files whose name begins and ends so, by name.
std::vector<std::string> matching_files(const fs::path& directory, const std::string& start, const std::string& end) {
  std::vector<std::string> files;
  std::error_code trouble;
  for (fs::directory_iterator entry(directory, trouble), last; !trouble && entry != last; entry.increment(trouble)) {
    const std::string name = entry->path().filename().string();
    if (name.size() >= start.size() + end.size() && name.rfind(start, 0) == 0 &&
        name.compare(name.size() - end.size(), end.size(), end) == 0 && is_file(entry->path()))
      files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// --- IDX ---------------------------------------------------------------------------------------------------------

fs::path idx_images(const fs::path& directory, const std::string& part) {
  return plain_or_packed(directory / (part + "-images-idx3-ubyte"));
}

ImageSet read_idx_part(const fs::path& directory, const std::string& part) {
  const fs::path labels = plain_or_packed(directory / (part + "-labels-idx1-ubyte"));
  const fs::path images = idx_images(directory, part);
  if (!is_file(labels)) refuse(labels.string(), fmt::format("is missing beside {}", images.filename().string()));
  return read_idx(images.string(), labels.string());
}

/// Labels count the classes; a far-off one among near ones is damage.
void check_labels_count(const fs::path& labels_path, const at::Tensor& labels) {
  constexpr int64_t largest_gap = 10;
  const at::Tensor counts = labels.bincount();
  const auto count = counts.accessor<int64_t, 1>();
  int64_t previous = -1;
  for (int64_t label = 0; label < counts.size(0); ++label) {
    if (count[label] == 0) continue;
    if (label - previous > largest_gap) {
      const int64_t row = (labels == label).nonzero()[0].item<int64_t>();
      refuse(labels_path.string(),
             fmt::format("the label {} of image {}, at byte {}, is out of range: labels count the classes from 0, and "
                         "{} is the next smaller one",
                         label, row + 1, 8 + row, previous < 0 ? "none" : std::to_string(previous)));
    }
    previous = label;
  }
}

ImageDirectory read_idx_directory(const fs::path& directory) {
  ImageDirectory found;
  found.layout = ImageLayout::idx;
  found.training = read_idx_part(directory, "train");
  check_labels_count(plain_or_packed(directory / "train-labels-idx1-ubyte"), found.training.labels);
  found.training.classes = read_class_names("", found.training.labels.max().item<int64_t>() + 1);
  if (is_file(idx_images(directory, "t10k"))) {
    found.test = read_idx_part(directory, "t10k");
    found.test->classes = found.training.classes;
    const at::Tensor unknown = (found.test->labels >= static_cast<int64_t>(found.training.classes.size())).nonzero();
    if (unknown.size(0) > 0) {
      const int64_t row = unknown[0].item<int64_t>();
      refuse(plain_or_packed(directory / "t10k-labels-idx1-ubyte").string(),
             fmt::format("the label {} of image {}, at byte {}, does not occur in training, where labels are 0 to {}",
                         found.test->labels[row].item<int64_t>(), row + 1, 8 + row, found.training.classes.size() - 1));
    }
  }
  return found;
}

// --- CIFAR -------------------------------------------------------------------------------------------------------

std::vector<std::string> cifar_training_files(const fs::path& directory) {
  const std::vector<std::string> batches = matching_files(directory, "data_batch", ".bin");
  return batches.empty() ? matching_files(directory, "train", ".bin") : batches;
}

/// SVHN and CIFAR-100 both call their files train.bin: the names of the classes tell, or the length of the records.
bool is_cifar100(const fs::path& directory) {
  if (is_file(directory / "fine_label_names.txt")) return true;
  if (is_file(directory / "batches.meta.txt") || !is_file(directory / "train.bin")) return false;
  std::error_code ignored;
  const auto bytes = static_cast<int64_t>(fs::file_size(directory / "train.bin", ignored));
  return bytes % cifar100_record.size() == 0 && bytes % cifar10_record.size() != 0;
}

ImageDirectory read_cifar_directory(const fs::path& directory, ImageLayout layout) {
  const bool fine = layout == ImageLayout::cifar100;
  const CifarRecord record = fine ? cifar100_record : cifar10_record;
  const std::vector<std::string> classes = fine ? read_class_names((directory / "fine_label_names.txt").string(), 100)
                                                : read_class_names((directory / "batches.meta.txt").string(), 10);
  ImageDirectory found;
  found.layout = layout;
  found.training = read_cifar(cifar_training_files(directory), record, classes);
  const std::vector<std::string> test = matching_files(directory, "test", ".bin");
  if (!test.empty()) found.test = read_cifar(test, record, classes);
  return found;
}

// --- folders -----------------------------------------------------------------------------------------------------

bool has_parts(const fs::path& directory) { return is_folder(directory / "train"); }

ImageDirectory read_folders(const fs::path& directory) {
  ImageDirectory found;
  found.layout = ImageLayout::folders;
  if (!has_parts(directory)) {
    found.training = read_class_folders(directory.string());
    return found;
  }
  found.training = read_class_folders((directory / "train").string());
  if (is_folder(directory / "test"))
    found.test = read_class_folders((directory / "test").string(), found.training.classes);
  return found;
}

// --- what is true of all -----------------------------------------------------------------------------------------

void match_shapes(ImageSet& training, ImageSet& test) {
  if (training.images.size(2) != test.images.size(2) || training.images.size(3) != test.images.size(3)) {
    refuse(test.name, fmt::format("its images have {} x {} pixels, but those of {} have {} x {}: all images must have "
                                  "one size",
                                  test.images.size(2), test.images.size(3), training.name, training.images.size(2),
                                  training.images.size(3)));
  }
  const int64_t channels = std::max(training.images.size(1), test.images.size(1));
  for (ImageSet* set : {&training, &test}) {
    if (set->images.size(1) < channels) set->images = set->images.repeat({1, channels, 1, 1});
  }
}

}  // namespace

std::optional<ImageLayout> image_layout(const std::string& path) {
  const fs::path directory = path;
  if (!is_folder(directory)) return std::nullopt;
  if (is_file(idx_images(directory, "train"))) return ImageLayout::idx;
  if (!cifar_training_files(directory).empty())
    return is_cifar100(directory) ? ImageLayout::cifar100 : ImageLayout::cifar10;
  if (has_class_folders(has_parts(directory) ? (directory / "train").string() : path)) return ImageLayout::folders;
  return std::nullopt;
}

ImageDirectory read_image_directory(const std::string& path) {
  std::error_code trouble;
  if (!fs::exists(path, trouble))
    refuse(path, trouble ? fmt::format("cannot be read: {}", failure_reason(trouble.value())) : "no such directory");
  if (!is_folder(path)) refuse(path, "is a file, but a directory of images is expected");
  const std::optional<ImageLayout> layout = image_layout(path);
  if (!layout) {
    refuse(path,
           "holds no images of a known layout: train-images-idx3-ubyte[.gz] and its labels, data_batch_*.bin or "
           "train.bin, or a folder of PNG or JPEG files for each class");
  }
  ImageDirectory found = *layout == ImageLayout::idx       ? read_idx_directory(path)
                         : *layout == ImageLayout::folders ? read_folders(path)
                                                           : read_cifar_directory(path, *layout);
  if (found.test) match_shapes(found.training, *found.test);
  return found;
}

}  // namespace ockham
