#include "ockham/data/partition.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ockham/base/error.h"

namespace ockham {

PartitionSizes PartitionSizes::within(int64_t examples) const {
  return examples <= largest ? PartitionSizes{examples, 0} : *this;
}

at::Tensor Partition::examples_of(size_t batch) const {
  return shared.numel() == 0 ? batches[batch] : at::cat({shared, batches[batch]});
}

int64_t batch_count(int64_t examples, const PartitionSizes& sizes) {
  if (sizes.largest <= 0)
    throw Error(ErrorKind::usage,
                fmt::format("A batch of {} examples was asked for; it must have at least one.", sizes.largest));
  if (sizes.shared < 0 || sizes.shared >= sizes.largest)
    throw Error(ErrorKind::usage,
                fmt::format("Batches of {} examples cannot share {} of them; at least one must be a batch's own.",
                            sizes.largest, sizes.shared));
  if (examples <= sizes.largest) return 1;
  const int64_t own = sizes.largest - sizes.shared, divided = examples - sizes.shared;
  return divided / own + (divided % own > 0 ? 1 : 0);
}

Partition random_partition(int64_t examples, const PartitionSizes& sizes, at::Generator generator) {
  const int64_t count = batch_count(examples, sizes);
  const int64_t shared = sizes.within(examples).shared, divided = examples - shared;
  const at::Tensor order = at::randperm(examples, generator, at::TensorOptions(at::kLong));
  Partition partition{order.narrow(0, 0, shared), {}};
  for (int64_t b = 0; b < count; ++b) {
    const int64_t first = b * divided / count, last = (b + 1) * divided / count;
    partition.batches.push_back(order.narrow(0, shared + first, last - first));
  }
  return partition;
}

}  // namespace ockham
