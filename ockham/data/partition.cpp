#include "ockham/data/partition.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr int kPowerIterations = 5;
constexpr int64_t kMostColumns = 64;
constexpr double kNear = 0.25;  // ℓ², of the mean squared distance of two examples

/// The inputs as rows whose distances are theirs: all numbers of an example, or where they are many random sums of
/// them, which keep distances to an eighth or so.
at::Tensor rows_of(const at::Tensor& inputs, at::Generator generator) {
  const at::Tensor flat = inputs.detach().reshape({inputs.size(0), -1});
  const at::Tensor rows = flat.is_floating_point() ? flat : flat.to(at::kFloat);
  if (rows.size(1) <= kMostColumns) return rows;
  const double scale = 1 / std::sqrt(static_cast<double>(kMostColumns));
  return at::mm(rows, scale * at::randn({rows.size(1), kMostColumns}, generator, rows.options()));
}

/// Number of the first of n examples that are dealt out to `batches`, in batch b.
int64_t boundary(int64_t b, int64_t n, int64_t batches) { return b * n / batches; }

/// The order of `rows` [n, D] along the direction of their largest variance.
at::Tensor order_along_axis(const at::Tensor& rows) {
  const at::Tensor centred = rows - rows.mean(0);
  at::Tensor axis = centred[centred.square().sum(1).argmax().item<int64_t>()];
  for (int i = 0; i < kPowerIterations; ++i) {
    axis = at::mv(centred.t(), at::mv(centred, axis));
    axis = axis / axis.norm().clamp_min(1e-30);
  }
  return at::argsort(at::mv(centred, axis), /*stable=*/true, 0, false);
}

/// Deals `examples` out to the batches [begin, end) of `count`, halving them until one is left.
void halve(const at::Tensor& rows, const at::Tensor& examples, int64_t begin, int64_t end, int64_t total, int64_t count,
           std::vector<at::Tensor>& batches) {
  if (end - begin == 1) return batches.push_back(examples);
  const int64_t middle = (begin + end) / 2;
  const at::Tensor sorted = examples.index_select(0, order_along_axis(rows.index_select(0, examples)));
  const int64_t left = boundary(middle, total, count) - boundary(begin, total, count);
  halve(rows, sorted.narrow(0, 0, left), begin, middle, total, count, batches);
  halve(rows, sorted.narrow(0, left, sorted.numel() - left), middle, end, total, count, batches);
}

/// The `count` of `candidates` with the largest Σ_i exp(-d²_ij / ℓ²) over the examples i of `batch`.
at::Tensor nearest(const at::Tensor& rows, double length2, const at::Tensor& batch, const at::Tensor& candidates,
                   int64_t count) {
  const at::Tensor here = rows.index_select(0, batch), there = rows.index_select(0, candidates);
  const at::Tensor squares = here.square().sum(1).unsqueeze(1) + there.square().sum(1) -
                             2 * at::mm(here, there.t());  // d² [batch, candidates]
  const at::Tensor near = (squares / -length2).exp().sum(0);
  return candidates.index_select(0, at::argsort(near, /*stable=*/true, 0, /*descending=*/true).narrow(0, 0, count));
}

}  // namespace

PartitionSizes PartitionSizes::within(int64_t examples) const {
  return examples <= largest ? PartitionSizes{examples, 0} : *this;
}

at::Tensor Partition::companions_of(size_t batch) const {
  return find_companions ? find_companions(batch) : at::zeros({0}, at::kLong);
}

int64_t batch_count(int64_t examples, const PartitionSizes& sizes) {
  if (sizes.largest <= 0)
    throw Error(ErrorKind::usage,
                fmt::format("A batch of {} examples was asked for; it must have at least one.", sizes.largest));
  if (sizes.shared < 0 || sizes.shared >= sizes.largest)
    throw Error(ErrorKind::usage,
                fmt::format("Batches of {} examples cannot share {} of them; at least one must be a batch's own.",
                            sizes.largest, sizes.shared));
  const int64_t own = sizes.largest - sizes.shared, after_first = std::max<int64_t>(0, examples - sizes.largest);
  return 1 + (after_first + own - 1) / own;
}

Partition make_partition(const at::Tensor& inputs, const PartitionSizes& sizes, at::Generator generator) {
  const int64_t examples = inputs.size(0), all = batch_count(examples, sizes);
  const int64_t shared = sizes.within(examples).shared;
  const int64_t first = shared > 0 ? sizes.largest : 0, count = shared > 0 ? all - 1 : all, divided = examples - first;
  const at::Tensor order = at::randperm(examples, generator, at::TensorOptions(at::kLong));
  Partition partition{order.narrow(0, 0, first), {}, shared, nullptr};
  if (shared == 0) {
    for (int64_t b = 0; b < count; ++b)
      partition.batches.push_back(
          order.narrow(0, boundary(b, divided, count), boundary(b + 1, divided, count) - boundary(b, divided, count)));
    return partition;
  }
  const at::Tensor rows = rows_of(inputs, generator);
  const double length2 = kNear * 2 * std::max(1e-30, rows.var(0, /*unbiased=*/false).sum().item<double>());
  halve(rows, order.narrow(0, first, divided), 0, count, divided, count, partition.batches);
  partition.find_companions = [rows, length2, shared, first = partition.first, batches = partition.batches](size_t b) {
    std::vector<at::Tensor> before = {first};
    before.insert(before.end(), batches.begin(), batches.begin() + static_cast<int64_t>(b));
    return nearest(rows, length2, batches.at(b), at::cat(before), shared);
  };
  return partition;
}

}  // namespace ockham
