#include "ockham/data/npy.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/printable.h"

namespace ockham {
namespace {

constexpr size_t most_dimensions = 64;  // libtorch's operators know no more

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path, why));
}

struct NpyHeader {
  std::string type;  // NumPy's descr, e.g. "<f8"
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// The text after `'key':` in the header's Python dictionary.
std::optional<std::string> value_of(const std::string& header, const std::string& key) {
  for (const char quote : {'\'', '"'}) {
    const auto at = header.find(quote + key + quote);
    if (at == std::string::npos) continue;
    auto begin = header.find(':', at);
    if (begin == std::string::npos) return std::nullopt;
    begin = header.find_first_not_of(' ', begin + 1);
    if (begin == std::string::npos) return std::nullopt;
    return header.substr(begin);
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> parse_shape(const std::string& text) {
  if (text.empty() || text[0] != '(') return std::nullopt;
  std::vector<int64_t> shape;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == ')') return shape;
    if (text[i] == ',' || text[i] == ' ') continue;
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) return std::nullopt;
    int64_t extent = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])); ++i) {
      if (extent > (INT64_MAX - 9) / 10) return std::nullopt;
      extent = extent * 10 + (text[i] - '0');
    }
    if (i < text.size() && text[i] == 'L') ++i;  // Python 2 wrote long integers so
    --i;
    shape.push_back(extent);
  }
  return std::nullopt;
}

NpyHeader parse_header(const std::string& path, const std::string& text) {
  NpyHeader header;
  const auto type = value_of(text, "descr");
  const auto order = value_of(text, "fortran_order");
  const auto shape_text = value_of(text, "shape");
  const auto shape = shape_text ? parse_shape(*shape_text) : std::nullopt;
  if (!type || !order || !shape) refuse(path, "its NPY header cannot be read; the file is damaged, save it again");
  if ((*type)[0] != '\'' && (*type)[0] != '"') {
    refuse(path, "it holds a structured array; save a plain numeric array instead");
  }
  const auto end = type->find((*type)[0], 1);
  if (end == std::string::npos) refuse(path, "its NPY header cannot be read; the file is damaged, save it again");
  header.type = type->substr(1, end - 1);
  header.fortran_order = order->rfind("True", 0) == 0;
  if (!header.fortran_order && order->rfind("False", 0) != 0)
    refuse(path, "its NPY header cannot be read; the file is damaged, save it again");
  if (shape->size() > most_dimensions)
    refuse(path, fmt::format("has {} dimensions, but {} are the most", shape->size(), most_dimensions));
  header.shape = *shape;
  return header;
}

at::ScalarType scalar_type(const std::string& path, const std::string& type) {
  static const std::vector<std::pair<std::string, at::ScalarType>> known = {
      {"f2", at::kHalf}, {"f4", at::kFloat}, {"f8", at::kDouble}, {"i1", at::kChar}, {"i2", at::kShort},
      {"i4", at::kInt},  {"i8", at::kLong},  {"u1", at::kByte},   {"b1", at::kBool}};
  if (type.size() == 3 && std::strchr("<>|=", type[0]) != nullptr) {
    for (const auto& [name, scalar] : known) {
      if (type.substr(1) == name) return scalar;
    }
  }
  refuse(path, fmt::format("its values have the NumPy type '{}', which cannot be read; convert the array with "
                           ".astype('float64') or .astype('int64')",
                           printable(type.substr(0, 40))));
}

void swap_bytes(char* data, int64_t count, int64_t width) {
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

}  // namespace

at::Tensor read_npy(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) refuse(path, "no such file");
  if (!std::filesystem::is_regular_file(path, failure)) refuse(path, "is not a file; an .npy file is expected");
  const auto file_size = static_cast<int64_t>(std::filesystem::file_size(path, failure));
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be opened; check its permissions");

  unsigned char start[12] = {};
  file.read(reinterpret_cast<char*>(start), 10);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0) refuse(path, "is not an NPY file; write it with numpy.save");
  const int version = start[6];
  if (version < 1 || version > 3)
    refuse(path, fmt::format("has NPY version {}, but versions 1 to 3 can be read", version));
  int64_t header_size = start[8] | start[9] << 8;
  int64_t prefix = 10;
  if (version >= 2) {
    file.read(reinterpret_cast<char*>(start + 10), 2);
    header_size |= static_cast<int64_t>(start[10]) << 16 | static_cast<int64_t>(start[11]) << 24;
    prefix = 12;
  }
  if (!file || prefix + header_size > file_size) refuse(path, "is truncated inside its header; save it again");
  std::string text(header_size, '\0');
  file.read(text.data(), header_size);
  const NpyHeader header = parse_header(path, text);
  const at::ScalarType type = scalar_type(path, header.type);

  const auto width = static_cast<int64_t>(c10::elementSize(type));
  const int64_t available = file_size - prefix - header_size;
  int64_t count = 1;
  int64_t strides = 1;  // they overflow even where another extent is 0
  for (const int64_t extent : header.shape) {
    // Compared by division: a damaged header may promise more than 64 bits can count.
    if (extent != 0 && strides > (INT64_MAX / width) / extent)
      refuse(path, "its header promises an impossible size; save it again");
    strides *= std::max<int64_t>(extent, 1);
    count *= extent;
  }
  if (count * width > available) {
    refuse(path, fmt::format("is truncated: its header promises {} bytes of values but {} are there; save it again",
                             count * width, available));
  }
  if (count * width < available) {
    refuse(path, fmt::format("has {} bytes after the array that its header describes; save a single array per file",
                             available - count * width));
  }
  if (count * width > default_memory_budget()) {
    refuse(path, fmt::format("holds {}, more than the memory budget of {}; take fewer rows", human_bytes(count * width),
                             human_bytes(default_memory_budget())));
  }

  std::vector<int64_t> shape = header.shape;
  if (header.fortran_order) std::reverse(shape.begin(), shape.end());
  at::Tensor array = at::empty(shape, at::TensorOptions().dtype(type));
  auto* data = static_cast<char*>(array.data_ptr());
  file.read(data, count * width);
  if (!file && count > 0) refuse(path, "cannot be read to its end; check the disk");
  if (type == at::kBool && std::any_of(data, data + count, [](char byte) { return (byte & ~1) != 0; }))
    refuse(path, "is an array of bool but holds bytes that are neither 0 nor 1; save it again");
  if (header.type[0] == '>') swap_bytes(data, count, width);
  if (header.fortran_order) {
    std::vector<int64_t> reversed(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) reversed[d] = static_cast<int64_t>(shape.size() - 1 - d);
    array = array.permute(reversed).contiguous();
  }
  return array;
}

void write_npy(const std::string& path, const at::Tensor& array) {
  const at::Tensor plain = array.detach().cpu().contiguous();
  const char* type = plain.scalar_type() == at::kFloat    ? "<f4"
                     : plain.scalar_type() == at::kDouble ? "<f8"
                     : plain.scalar_type() == at::kLong   ? "<i8"
                                                          : nullptr;
  if (type == nullptr) refuse(path, "only float32, float64 and int64 arrays can be written");
  std::string shape;
  for (const int64_t extent : plain.sizes()) shape += fmt::format("{}, ", extent);
  if (plain.dim() > 1) shape.erase(shape.size() - 2);
  if (plain.dim() == 1) shape.erase(shape.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');  // values start at a multiple of 64 bytes
  header += '\n';

  const char start[10] = {'\x93',
                          'N',
                          'U',
                          'M',
                          'P',
                          'Y',
                          1,
                          0,
                          static_cast<char>(header.size() & 0xff),
                          static_cast<char>(header.size() >> 8)};
  write_atomically(path, {{start, sizeof start},
                          header,
                          {static_cast<const char*>(plain.data_ptr()), static_cast<size_t>(plain.nbytes())}});
}

}  // namespace ockham
