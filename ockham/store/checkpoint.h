// The state of an unfinished computation: enough to go on to the same result, bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

#include "ockham/store/safetensors.h"

namespace ockham {

/// Plain named values. The maps are filled directly; the functions read, and throw Error(data) naming the checkpoint
/// when it lacks what is asked for.
struct Checkpoint {
  NamedTensors tensors;
  std::map<std::string, std::string> bytes;  // any bytes, e.g. the state of an optimiser
  std::map<std::string, double> numbers;     // kept exactly, also NaN and infinities
  std::map<std::string, int64_t> counts;
  std::string source = "the checkpoint";  // its file, for sentences; set by reading

  const at::Tensor& tensor(const std::string& name) const;
  const std::string& byte_string(const std::string& name) const;
  double number(const std::string& name) const;
  int64_t count(const std::string& name) const;
};

/// Writes one safetensors file atomically: the previous checkpoint of that path is there until the new one is complete
/// on the disk. `fingerprint` says which configuration the state belongs to. Throws Error(failure).
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint, const std::string& fingerprint);

/// Reads one back. Throws Error(data) when it is missing, damaged (a checksum over all values is kept), of a newer
/// format, or of another fingerprint.
Checkpoint read_checkpoint(const std::string& path, const std::string& fingerprint);

}  // namespace ockham
