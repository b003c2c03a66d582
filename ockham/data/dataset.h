// A supervised data set in memory: inputs [N, ...] and targets [N] or [N, C].
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

struct Batch {
  at::Tensor inputs;   // [B, ...]
  at::Tensor targets;  // [B] or [B, C]
  int64_t first = 0;   // index of its first example in the data set
};

class Dataset {
 public:
  /// Throws Error(data) when empty, when the lengths differ, or when a value is not finite (naming its position).
  Dataset(at::Tensor inputs, at::Tensor targets);

  int64_t size() const { return inputs_.size(0); }
  const at::Tensor& inputs() const { return inputs_; }
  const at::Tensor& targets() const { return targets_; }

  /// The examples of these indices [B], copied; the batch's `first` is the first of them.
  Batch gather(const at::Tensor& examples) const;

  /// Examples [first, min(first + count, N)), as views.
  Batch slice(int64_t first, int64_t count) const;

 private:
  at::Tensor inputs_;
  at::Tensor targets_;
};

}  // namespace ockham
