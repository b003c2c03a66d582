// A random partition of a data set into batches.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ockham {

struct PartitionSizes {
  int64_t largest = 0;  // examples of a batch at most, with the shared ones
  int64_t shared = 0;   // examples that all batches have beside their own; below `largest`

  /// Of so many examples: one batch of all of them when `largest` is not less, which then shares none.
  PartitionSizes within(int64_t examples) const;
};

struct Partition {
  at::Tensor shared;                // examples that all batches have, int64 [S]; S is 0 without such, or with one batch
  std::vector<at::Tensor> batches;  // examples of each batch of its own

  /// The shared examples, then the batch's own.
  at::Tensor examples_of(size_t batch) const;
};

/// B: the fewest batches of at most that size. Throws Error(usage) unless 0 <= shared < largest.
int64_t batch_count(int64_t examples, const PartitionSizes& sizes);

/// In random order. Every example is shared or in one batch, and the batches' sizes differ by at most one: a small last
/// batch would say little, and weigh as much as the others.
Partition random_partition(int64_t examples, const PartitionSizes& sizes, at::Generator generator);

}  // namespace ockham
