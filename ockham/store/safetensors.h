// Named tensors in the safetensors format: eight bytes with the length of a JSON header, the header {name: {dtype,
// shape, data_offsets}}, then the values, little endian. Python reads it with the safetensors package.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace ockham {

using NamedTensors = std::map<std::string, at::Tensor>;
using TextByName = std::map<std::string, std::string>;

struct TensorFile {
  NamedTensors tensors;
  TextByName metadata;  // "__metadata__" of the format: text for text
};

/// Writes atomically. Tensors of any device and layout of memory; bool, uint8, int8 to int64, float16, bfloat16,
/// float32 and float64. The same values give the same bytes. Throws Error(failure).
void write_safetensors(const std::string& path, const TensorFile& content);

/// Reads a file that anyone may have made: everything that its header promises is checked against its size before it is
/// believed. Throws Error(data) naming the file and the tensor.
TensorFile read_safetensors(const std::string& path);

}  // namespace ockham
