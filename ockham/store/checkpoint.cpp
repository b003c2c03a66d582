#include "ockham/store/checkpoint.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <string_view>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr const char* checkpoint_kind = "ockham checkpoint";
constexpr const char* checkpoint_format = "1";
constexpr std::string_view tensor_prefix = "tensor/", bytes_prefix = "bytes/", number_prefix = "number/",
                           count_prefix = "count/";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path, why));
}

template <typename Map>
const auto& find_named(const Map& map, const Checkpoint& checkpoint, const char* kind, const std::string& name) {
  const auto found = map.find(name);
  if (found == map.end()) {
    refuse(
        checkpoint.source,
        fmt::format("has no {} '{}'; it was written by another version of ockham, start without --resume", kind, name));
  }
  return found->second;
}

at::Tensor as_tensor(const std::string& bytes) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

/// Over names and values in the order of the map; shapes and types are checked against the sizes by the format itself.
std::string checksum(const NamedTensors& tensors) {
  uLong sum = ::crc32_z(0, nullptr, 0);
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor plain = tensor.detach().cpu().contiguous();
    sum = ::crc32_z(sum, reinterpret_cast<const Bytef*>(name.data()), name.size());
    if (plain.nbytes() > 0) sum = ::crc32_z(sum, static_cast<const Bytef*>(plain.data_ptr()), plain.nbytes());
  }
  return fmt::format("{:08x}", sum);
}

std::string text_of(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? std::string() : found->second;
}

const at::Tensor& expect_single(const std::string& path, const std::string& name, const at::Tensor& tensor,
                                at::ScalarType type) {
  if (tensor.scalar_type() != type || tensor.numel() != 1) refuse(path, fmt::format("'{}' is no single value", name));
  return tensor;
}

}  // namespace

const at::Tensor& Checkpoint::tensor(const std::string& name) const {
  return find_named(tensors, *this, "tensor", name);
}
const std::string& Checkpoint::byte_string(const std::string& name) const {
  return find_named(bytes, *this, "bytes", name);
}
double Checkpoint::number(const std::string& name) const { return find_named(numbers, *this, "number", name); }
int64_t Checkpoint::count(const std::string& name) const { return find_named(counts, *this, "count", name); }

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint, const std::string& fingerprint) {
  TensorFile file;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (!tensor.defined()) throw Error(ErrorKind::failure, fmt::format("{}: tensor '{}' is undefined", path, name));
    file.tensors[std::string(tensor_prefix) + name] = tensor;
  }
  for (const auto& [name, bytes] : checkpoint.bytes) file.tensors[std::string(bytes_prefix) + name] = as_tensor(bytes);
  // As tensors and not as text: every bit comes back.
  for (const auto& [name, number] : checkpoint.numbers) {
    file.tensors[std::string(number_prefix) + name] = at::full({}, number, at::kDouble);
  }
  for (const auto& [name, count] : checkpoint.counts) {
    file.tensors[std::string(count_prefix) + name] = at::full({}, count, at::kLong);
  }
  file.metadata = {{"kind", checkpoint_kind},
                   {"format", checkpoint_format},
                   {"fingerprint", fingerprint},
                   {"crc32", checksum(file.tensors)}};
  write_safetensors(path, file);
}

Checkpoint read_checkpoint(const std::string& path, const std::string& fingerprint) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) refuse(path, "there is no such checkpoint; start without --resume");
  const TensorFile file = read_safetensors(path);
  if (text_of(file, "kind") != checkpoint_kind) refuse(path, "is no checkpoint of ockham");
  if (text_of(file, "format") != checkpoint_format) {
    refuse(path, fmt::format("has checkpoint format '{}', but format {} is read here; use the ockham that wrote it",
                             text_of(file, "format"), checkpoint_format));
  }
  if (text_of(file, "crc32") != checksum(file.tensors)) {
    refuse(path, "is damaged: its values do not match their checksum; delete it and start again");
  }
  if (text_of(file, "fingerprint") != fingerprint) {
    refuse(path, "belongs to another configuration; delete it and start again");
  }
  Checkpoint checkpoint;
  checkpoint.source = path;
  for (const auto& [key, tensor] : file.tensors) {
    const auto starts = [&key = key](std::string_view prefix) { return key.rfind(prefix, 0) == 0; };
    const std::string name = key.substr(key.find('/') + 1);
    if (starts(tensor_prefix)) {
      checkpoint.tensors[name] = tensor;
    } else if (starts(bytes_prefix)) {
      if (tensor.scalar_type() != at::kByte) refuse(path, fmt::format("'{}' is no string of bytes", key));
      checkpoint.bytes[name] = std::string(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
    } else if (starts(number_prefix)) {
      checkpoint.numbers[name] = expect_single(path, key, tensor, at::kDouble).item<double>();
    } else if (starts(count_prefix)) {
      checkpoint.counts[name] = expect_single(path, key, tensor, at::kLong).item<int64_t>();
    } else {
      refuse(path, fmt::format("holds '{}', which no checkpoint has", key));
    }
  }
  return checkpoint;
}

}  // namespace ockham
