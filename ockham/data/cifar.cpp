#include "ockham/data/cifar.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path, why));
}

int64_t count_records(const std::string& path, const CifarRecord& record) {
  std::error_code trouble;
  const auto bytes = static_cast<int64_t>(fs::file_size(path, trouble));
  if (trouble == std::errc::is_a_directory) refuse(path, "is a directory; a file of records is expected");
  if (trouble == std::errc::no_such_file_or_directory) refuse(path, "no such file");
  if (trouble) refuse(path, fmt::format("cannot be read: {}", failure_reason(trouble.value())));
  const int64_t count = bytes / record.size(), rest = bytes % record.size();
  if (rest != 0) {
    refuse(path, fmt::format("is truncated: record {} at byte {} should have {} bytes but {} are there", count + 1,
                             count * record.size(), record.size(), rest));
  }
  if (count == 0) refuse(path, fmt::format("is empty: records of {} bytes are expected", record.size()));
  return count;
}

}  // namespace

ImageSet read_cifar(const std::vector<std::string>& paths, const CifarRecord& record,
                    const std::vector<std::string>& classes) {
  std::vector<int64_t> counts;
  int64_t total = 0;
  for (const std::string& path : paths) total += counts.emplace_back(count_records(path, record));
  const int64_t pixels = record.size() - record.label_bytes;
  if (total * pixels > default_memory_budget()) {
    refuse(paths[0], fmt::format("with its companions holds {}, more than the memory budget of {}; take fewer images",
                                 human_bytes(total * pixels), human_bytes(default_memory_budget())));
  }

  ImageSet set;
  set.name = paths[0];
  set.classes = classes;
  set.images = at::empty({total, 3, 32, 32}, at::kByte);
  set.labels = at::empty({total}, at::kLong);
  auto* image = set.images.data_ptr<uint8_t>();
  auto* label = set.labels.data_ptr<int64_t>();
  for (size_t k = 0; k < paths.size(); ++k) {
    const std::string bytes = read_file(paths[k]);
    if (static_cast<int64_t>(bytes.size()) != counts[k] * record.size())
      refuse(paths[k], "changed while it was read; try again");
    for (int64_t row = 0; row < counts[k]; ++row, image += pixels, ++label) {
      const int64_t at_label = row * record.size() + record.label_bytes - 1;
      *label = static_cast<unsigned char>(bytes[static_cast<size_t>(at_label)]);
      if (*label >= static_cast<int64_t>(classes.size())) {
        refuse(paths[k], fmt::format("record {} has the label {} at byte {}, but labels are 0 to {}; is the file of "
                                     "another layout, or damaged?",
                                     row + 1, *label, at_label, classes.size() - 1));
      }
      std::memcpy(image, bytes.data() + at_label + 1, static_cast<size_t>(pixels));
    }
  }
  return set;
}

std::vector<std::string> read_class_names(const std::string& path, int64_t count) {
  std::vector<std::string> names;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) {
    std::istringstream lines(read_file(path));
    for (std::string line; std::getline(lines, line);) {
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
      if (!line.empty()) names.push_back(line);
    }
    if (names.size() < 2) refuse(path, "names no classes; one name per line is expected");
    if (names.size() > 256) refuse(path, fmt::format("names {} classes, but a label byte counts to 255", names.size()));
    return names;
  }
  for (int64_t k = 0; k < count; ++k) names.push_back(std::to_string(k));
  return names;
}

}  // namespace ockham
