// A partition of a data set into batches. Beside its own examples a batch may have companions: examples of batches
// before it, those whose inputs are near its own.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ockham {

struct PartitionSizes {
  int64_t largest = 0;  // examples of a batch at most, with its companions
  int64_t shared = 0;   // companions of a batch; below `largest`

  /// Of so many examples: one batch of all of them when `largest` is not less, which then has no companions.
  PartitionSizes within(int64_t examples) const;
};

struct Partition {
  at::Tensor first;                 // the batch before all others, int64 [F]; F is 0 without companions
  std::vector<at::Tensor> batches;  // examples of each further batch of its own
  int64_t shared = 0;               // companions of a batch at most
  /// Of batch b, out of `first` and the batches before b; null: none. Looks for them at every call.
  std::function<at::Tensor(size_t)> find_companions;

  /// int64 [at most `shared`].
  at::Tensor companions_of(size_t batch) const;
};

/// The fewest batches of at most that size, `first` among them. Throws Error(usage) unless 0 <= shared < largest.
int64_t batch_count(int64_t examples, const PartitionSizes& sizes);

/// Every example of `inputs` [N, ...] is in one batch, and sizes differ by at most one (but for `first`): a small last
/// batch would say little, and weigh as much as the others. Without companions the batches are random; with them
/// `first` is, and the others are made of examples near each other, by halving along the axis of largest variance.
Partition make_partition(const at::Tensor& inputs, const PartitionSizes& sizes, at::Generator generator);

}  // namespace ockham
