#include "ockham/store/safetensors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/store/safetensors_header.h"

// Values are copied as they lie in memory.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors files are little endian");

namespace ockham {
namespace {

constexpr int64_t length_bytes = 8;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path, why));
}

std::string_view bytes_of(const at::Tensor& plain) {
  return {static_cast<const char*>(plain.data_ptr()), static_cast<size_t>(plain.nbytes())};
}

at::Tensor allocate(const std::string& path, const TensorEntry& entry) {
  try {
    return at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
  } catch (const std::exception&) {
    throw Error(ErrorKind::failure, fmt::format("{}: tensor '{}' needs {}, which the memory does not have", path,
                                                entry.name, human_bytes(entry.end - entry.begin)));
  }
}

}  // namespace

void write_safetensors(const std::string& path, const TensorFile& content) {
  std::vector<std::pair<std::string, at::Tensor>> plain;
  for (const auto& [name, tensor] : content.tensors) {
    if (!tensor.defined()) throw Error(ErrorKind::failure, fmt::format("{}: tensor '{}' is undefined", path, name));
    plain.emplace_back(name, tensor.detach().cpu().contiguous());
  }
  // Wide types first: every value then lies at a multiple of its size, and readers may map the file.
  std::stable_sort(plain.begin(), plain.end(), [](const auto& left, const auto& right) {
    return left.second.element_size() > right.second.element_size();
  });
  SafetensorsHeader header;
  header.metadata = content.metadata;
  int64_t begin = 0;
  for (const auto& [name, tensor] : plain) {
    const int64_t end = begin + static_cast<int64_t>(tensor.nbytes());
    header.entries.push_back({name, tensor.scalar_type(), tensor.sizes().vec(), begin, end});
    begin = end;
  }
  const std::string text = format_safetensors_header(path, header);
  if (static_cast<int64_t>(text.size()) > largest_safetensors_header) {
    throw Error(ErrorKind::failure, fmt::format("{}: names and metadata are larger than the format allows", path));
  }
  const uint64_t length = text.size();
  char start[length_bytes];
  std::memcpy(start, &length, sizeof start);
  std::vector<std::string_view> pieces = {{start, sizeof start}, text};
  for (const auto& [name, tensor] : plain) pieces.push_back(bytes_of(tensor));
  write_atomically(path, pieces);
}

TensorFile read_safetensors(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) refuse(path, "no such file");
  if (!std::filesystem::is_regular_file(path, failure)) refuse(path, "is not a file; a safetensors file is expected");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) refuse(path, "cannot be opened; check its permissions");
  // Of the file that is open: another process may put a new one in its place at any moment.
  const auto file_size = static_cast<int64_t>(file.tellg());
  file.seekg(0);

  uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), length_bytes);
  if (!file) refuse(path, "is no safetensors file: it is shorter than 8 bytes");
  if (length > static_cast<uint64_t>(file_size - length_bytes)) {
    refuse(path, "is truncated or no safetensors file: its header would be longer than the file");
  }
  if (length > static_cast<uint64_t>(largest_safetensors_header)) {
    refuse(path, "is no safetensors file: its header would be longer than the 100 MB that the format allows");
  }
  std::string text(length, '\0');
  file.read(text.data(), static_cast<std::streamsize>(length));
  if (!file) refuse(path, "cannot be read to its end; check the disk");
  SafetensorsHeader header =
      parse_safetensors_header(path, text, file_size - length_bytes - static_cast<int64_t>(length));

  TensorFile content;
  content.metadata = std::move(header.metadata);
  for (const TensorEntry& entry : header.entries) {  // they tile the file: reading goes on where it stopped
    at::Tensor tensor = allocate(path, entry);
    const std::string_view bytes = bytes_of(tensor);
    file.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(bytes.size()));
    if (!file) refuse(path, "cannot be read to its end; check the disk");
    if (entry.type == at::kBool &&
        std::any_of(bytes.begin(), bytes.end(), [](char byte) { return (byte & ~1) != 0; })) {
      refuse(path, fmt::format("tensor '{}' is of type BOOL but holds bytes that are neither 0 nor 1", entry.name));
    }
    content.tensors.emplace(entry.name, std::move(tensor));
  }
  return content;
}

}  // namespace ockham
