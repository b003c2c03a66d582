#include "ockham/data/image_folder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/nearest_word.h"
#include "ockham/data/jpeg.h"
#include "ockham/data/png.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path.string(), why));
}

bool is_image_name(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

/// Everything in a directory that is not hidden, by name.
std::vector<fs::path> list(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code trouble;
  for (fs::directory_iterator entry(directory, trouble), end; !trouble && entry != end; entry.increment(trouble)) {
    if (entry->path().filename().string()[0] != '.') entries.push_back(entry->path());
  }
  if (trouble) refuse(directory, fmt::format("cannot be listed ({}); check its permissions", trouble.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<fs::path> list_folders(const fs::path& directory) {
  std::vector<fs::path> folders;
  for (const fs::path& entry : list(directory)) {
    std::error_code ignored;
    if (fs::is_directory(entry, ignored)) folders.push_back(entry);
  }
  return folders;
}

std::vector<fs::path> list_images(const fs::path& folder) {
  std::vector<fs::path> images = list(folder);
  images.erase(std::remove_if(images.begin(), images.end(),
                              [](const fs::path& path) {
                                std::error_code ignored;
                                return !is_image_name(path) || fs::is_directory(path, ignored);
                              }),
               images.end());
  return images;
}

/// By its first bytes: many a .jpg is a PNG.
at::Tensor decode(const fs::path& path) {
  const std::string bytes = read_file(path.string());
  if (bytes.compare(0, 8, "\x89PNG\r\n\x1a\n", 8) == 0) return decode_png(path.string(), bytes);
  if (bytes.compare(0, 2, "\xff\xd8", 2) == 0) return decode_jpeg(path.string(), bytes);
  refuse(path, bytes.empty() ? "is empty; an image was expected"
                             : "does not begin as a PNG or a JPEG file does; replace or remove it");
}

void check_memory(const std::string& path, const at::Tensor& first, size_t count, int64_t channels) {
  const int64_t bytes = static_cast<int64_t>(count) * channels * first.size(1) * first.size(2);
  if (bytes > default_memory_budget()) {
    refuse(path,
           fmt::format("its {} images of {} × {} pixels take {}, more than the memory budget of {}; make them "
                       "smaller, or fewer",
                       count, first.size(2), first.size(1), human_bytes(bytes), human_bytes(default_memory_budget())));
  }
}

/// [N, channels, height, width]; grey images become colours from the first coloured one on.
at::Tensor read_images(const std::string& path, const std::vector<fs::path>& files) {
  at::Tensor images;
  for (size_t k = 0; k < files.size(); ++k) {
    const at::Tensor image = decode(files[k]);
    if (!images.defined()) {
      check_memory(path, image, files.size(), image.size(0));
      images = at::empty({static_cast<int64_t>(files.size()), image.size(0), image.size(1), image.size(2)}, at::kByte);
    }
    if (image.size(1) != images.size(2) || image.size(2) != images.size(3)) {
      refuse(files[k],
             fmt::format("is {} pixels wide and {} high, but {} is {} by {}: all images must have one size; scale them "
                         "first",
                         image.size(2), image.size(1), files[0].string(), images.size(3), images.size(2)));
    }
    if (image.size(0) > images.size(1)) {
      check_memory(path, image, files.size(), 1 + image.size(0));  // for a moment there are both
      images = images.repeat({1, image.size(0), 1, 1});
    }
    images[static_cast<int64_t>(k)].copy_(image.expand_as(images[static_cast<int64_t>(k)]));
  }
  return images;
}

int64_t find_class(const fs::path& folder, const std::vector<std::string>& classes) {
  const std::string name = folder.filename().string();
  const auto found = std::find(classes.begin(), classes.end(), name);
  if (found == classes.end()) {
    refuse(folder, fmt::format("the class '{}' does not occur in training{}", name, did_you_mean(name, classes)));
  }
  return found - classes.begin();
}

}  // namespace

bool has_loose_images(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? !list_images(path).empty() : is_image_name(path);
}

bool has_class_folders(const std::string& path) {
  const std::vector<fs::path> folders = list_folders(path);
  return std::any_of(folders.begin(), folders.end(), [](const fs::path& folder) {
    std::error_code trouble;
    for (fs::directory_iterator entry(folder, trouble), end; !trouble && entry != end; entry.increment(trouble)) {
      if (is_image_name(entry->path()) && entry->path().filename().string()[0] != '.') return true;
    }
    return false;
  });
}

ImageSet read_class_folders(const std::string& path, const std::vector<std::string>& classes) {
  const std::vector<fs::path> folders = list_folders(path);
  if (folders.empty()) refuse(path, "has no folders; one for each class is expected");
  ImageSet set;
  set.name = path;
  set.classes = classes;
  if (classes.empty()) {
    for (const fs::path& folder : folders) set.classes.push_back(folder.filename().string());
  }
  std::vector<fs::path> files;
  std::vector<int64_t> labels;
  for (const fs::path& folder : folders) {
    const int64_t label = find_class(folder, set.classes);
    const std::vector<fs::path> images = list_images(folder);
    if (images.empty()) {
      refuse(folder, list(folder).empty()
                         ? "the class folder is empty; put images in it, or remove it"
                         : "the class folder holds no PNG or JPEG files; put images in it, or remove it");
    }
    files.insert(files.end(), images.begin(), images.end());
    labels.insert(labels.end(), images.size(), label);
  }
  set.images = read_images(path, files);
  set.labels = at::tensor(labels, at::kLong);
  for (const fs::path& file : files) set.files.push_back(file.lexically_relative(path).string());
  return set;
}

ImageSet read_unlabelled_images(const std::string& path) {
  const bool one = !fs::is_directory(path);
  const std::vector<fs::path> files = one ? std::vector<fs::path>{path} : list_images(path);
  if (files.empty()) refuse(path, "holds no PNG or JPEG files");
  ImageSet set;
  set.name = path;
  set.images = read_images(path, files);
  for (const fs::path& file : files) set.files.push_back(file.filename().string());
  return set;
}

}  // namespace ockham
