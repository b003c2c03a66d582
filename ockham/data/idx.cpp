#include "ockham/data/idx.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path, why));
}

/// The bytes of a file one after another, through gzip where it is packed. Only what is asked for is unpacked, so a
/// small file cannot unfold without bound.
class ByteReader {
 public:
  explicit ByteReader(const std::string& path) : path_(path) {
    std::error_code trouble;
    if (fs::is_directory(path, trouble)) refuse(path, "is a directory; an IDX file is expected");
    size_ = static_cast<int64_t>(fs::file_size(path, trouble));
    if (trouble) refuse(path, "no such file");
    file_ = ::gzopen(path.c_str(), "rb");
    if (file_ == nullptr)
      refuse(path, fmt::format("cannot be opened ({}); check its permissions", std::strerror(errno)));
    ::gzbuffer(file_, 1 << 17);
  }
  ~ByteReader() { ::gzclose_r(file_); }
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  /// How many of the bytes were there.
  int64_t read(void* target, int64_t count) {
    int64_t filled = 0;
    while (filled < count) {
      const auto wanted = static_cast<unsigned>(std::min<int64_t>(count - filled, 1 << 30));
      const int got = ::gzread(file_, static_cast<char*>(target) + filled, wanted);
      if (got < 0) refuse_damage();
      if (got == 0) break;
      filled += got;
    }
    if (filled < count) check_end();
    return filled;
  }

  bool packed() const { return ::gzdirect(file_) == 0; }

  /// No more than this can follow: deflate packs at best 1032 to 1.
  int64_t most_bytes() const { return packed() ? size_ * 1032 : size_; }

 private:
  [[noreturn]] void refuse_damage() {
    int code = 0;
    ::gzerror(file_, &code);
    if (code == Z_BUF_ERROR) refuse(path_, "is a gzip file that ends too early; get or compress it again");
    if (code == Z_ERRNO) refuse(path_, fmt::format("cannot be read ({})", std::strerror(errno)));
    refuse(path_, "is a damaged gzip file; get or compress it again");
  }
  /// zlib gives what it has of a torn gzip file and tells afterwards.
  void check_end() {
    int code = Z_OK;
    ::gzerror(file_, &code);
    if (code != Z_OK && code != Z_STREAM_END) refuse_damage();
  }

  std::string path_;
  int64_t size_ = 0;
  gzFile file_ = nullptr;
};

uint32_t big_endian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

void check_magic(const std::string& path, uint32_t magic, int64_t dimensions) {
  const uint32_t expected = 0x0800 + static_cast<uint32_t>(dimensions);
  if (magic == expected) return;
  std::string guess = "this is no IDX file of unsigned bytes";
  if (magic == 0x0801) guess = "these are labels, not images";
  if (magic == 0x0803) guess = "these are images, not labels";
  refuse(path, fmt::format("begins with the bytes {:08x}, but {:08x} was expected: {}", magic, expected, guess));
}

}  // namespace

at::Tensor read_idx_array(const std::string& path, int64_t dimensions) {
  ByteReader file(path);
  std::vector<unsigned char> header(static_cast<size_t>(4 + 4 * dimensions));
  const auto header_size = static_cast<int64_t>(header.size());
  const int64_t header_found = file.read(header.data(), header_size);
  if (header_found >= 4) check_magic(path, big_endian(header.data()), dimensions);
  if (header_found < header_size)
    refuse(path, fmt::format("is truncated: its header has {} bytes but {} are there", header_size, header_found));

  std::vector<int64_t> shape;
  int64_t count = 1;
  for (int64_t d = 0; d < dimensions; ++d) {
    shape.push_back(big_endian(header.data() + 4 + 4 * d));
    if (shape.back() == 0) refuse(path, fmt::format("holds nothing: its header says [{}]", fmt::join(shape, ", ")));
    if (count > INT64_MAX / shape.back()) refuse(path, "its header promises an impossible size; get the file again");
    count *= shape.back();
  }
  const auto refuse_truncated = [&](int64_t found) {
    refuse(path, fmt::format("is truncated: its header promises {} bytes of values, [{}], but {} are there{}", count,
                             fmt::join(shape, ", "), found, file.packed() ? " when unpacked" : ""));
  };
  if (!file.packed() && count > file.most_bytes() - header_size) refuse_truncated(file.most_bytes() - header_size);
  if (count > file.most_bytes()) {
    refuse(path,
           fmt::format("its header promises {} bytes of values, [{}], more than a gzip file of this size can hold; "
                       "get the file again",
                       count, fmt::join(shape, ", ")));
  }
  if (count > default_memory_budget()) {
    refuse(path, fmt::format("holds {}, more than the memory budget of {}; take fewer images", human_bytes(count),
                             human_bytes(default_memory_budget())));
  }

  at::Tensor values = at::empty(shape, at::kByte);
  const int64_t found = file.read(values.data_ptr(), count);
  if (found < count) refuse_truncated(found);
  char more = 0;
  if (file.read(&more, 1) == 1) {
    refuse(path, fmt::format("has bytes after the {} values, [{}], that its header describes; get the file again",
                             count, fmt::join(shape, ", ")));
  }
  return values;
}

ImageSet read_idx(const std::string& images_path, const std::string& labels_path) {
  ImageSet set;
  set.name = images_path;
  set.labels = read_idx_array(labels_path, 1).to(at::kLong);
  set.images = read_idx_array(images_path, 3).unsqueeze(1);
  if (set.labels.size(0) != set.images.size(0)) {
    throw Error(ErrorKind::data, fmt::format("{} has {} images but {} has {} labels: there must be one label per image",
                                             images_path, set.images.size(0), labels_path, set.labels.size(0)));
  }
  return set;
}

}  // namespace ockham
