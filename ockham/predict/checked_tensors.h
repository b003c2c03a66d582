// Private to predict: tensors out of a model file, each checked for its type, its shape and finite values.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "ockham/store/safetensors.h"

namespace ockham {

/// Everything throws Error(data) that names the tensor.
class CheckedTensors {
 public:
  explicit CheckedTensors(NamedTensors tensors) : tensors_(std::move(tensors)) {}

  bool has(const std::string& name) const { return tensors_.count(name) > 0; }
  at::Tensor take(const std::string& name, at::ScalarType type, const std::vector<int64_t>& shape) const;
  /// float64 [size]; of size 0 it may be absent.
  at::Tensor take_vector(const std::string& name, int64_t size) const;
  std::string take_bytes(const std::string& name) const;
  /// Those whose name begins so, under the rest of their name.
  NamedTensors with_prefix(const std::string& prefix) const;

 private:
  NamedTensors tensors_;
};

}  // namespace ockham
