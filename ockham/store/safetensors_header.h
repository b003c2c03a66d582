// Private to store: the JSON header of a safetensors file, written and, as untrusted text, checked.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ockham {

/// The longest header that is read, as in the format's other readers.
inline constexpr int64_t largest_safetensors_header = 100'000'000;

struct TensorEntry {
  std::string name;
  c10::ScalarType type = c10::ScalarType::Undefined;
  std::vector<int64_t> shape;
  int64_t begin = 0, end = 0;  // bytes after the header
};

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// The header's JSON, padded with spaces so that the values start at a multiple of 8 bytes. `path` is for the
/// sentences.
std::string format_safetensors_header(const std::string& path, const SafetensorsHeader& header);

/// Accepts only headers whose tensors have known types, sizes that fit, and bytes that tile [0, value_bytes) without
/// overlap or hole. Throws Error(data).
SafetensorsHeader parse_safetensors_header(const std::string& path, const std::string& text, int64_t value_bytes);

}  // namespace ockham
