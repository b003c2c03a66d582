#include "ockham/data/partition.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

at::Tensor some_inputs(int64_t examples) {
  return at::randn({examples, 2, 3}, random_stream({5}), at::TensorOptions(at::kDouble));
}

TEST(Partition, EveryExampleIsInOneBatchAndSizesDifferByOneAtMost) {
  for (const int64_t examples : {1, 2, 7, 10, 100}) {
    for (const int64_t largest : {1, 2, 3, 7, 10, 99, 1000}) {
      for (const int64_t shared : {int64_t{0}, largest / 2, largest - 1}) {
        const PartitionSizes sizes{largest, shared};
        const Partition partition = make_partition(some_inputs(examples), sizes, random_stream({1}));
        const bool company = shared > 0 && examples > largest;
        EXPECT_EQ(partition.first.numel(), company ? largest : 0);
        EXPECT_EQ(static_cast<int64_t>(partition.batches.size()) + (company ? 1 : 0), batch_count(examples, sizes));
        int64_t most = 0, fewest = examples;
        at::Tensor before = partition.first;
        for (size_t b = 0; b < partition.batches.size(); ++b) {
          const at::Tensor companions = partition.companions_of(b), &own = partition.batches[b];
          EXPECT_EQ(companions.numel(), company ? shared : 0);
          EXPECT_TRUE(at::isin(companions, before).all().item<bool>());
          most = std::max(most, own.numel());
          fewest = std::min(fewest, own.numel());
          before = at::cat({before, own});
        }
        EXPECT_LE(most + partition.shared, largest);
        EXPECT_LE(most - fewest, 1);
        EXPECT_TRUE(std::get<0>(before.sort()).equal(at::arange(examples)));
      }
    }
  }
  EXPECT_EQ(batch_count(10, {5, 0}), 2);
  EXPECT_EQ(batch_count(11, {5, 0}), 3);
  EXPECT_EQ(batch_count(10, {5, 2}), 3);
  EXPECT_EQ(batch_count(12, {5, 2}), 4);
  EXPECT_EQ(batch_count(10, {10, 9}), 1);
}

TEST(Partition, BatchesAndTheirCompanionsAreNear) {
  // Four clouds of 30 far from each other: a batch of 19 or 20 lies in two of them, with companions of the same.
  const at::Tensor cloud = at::arange(120).remainder(4);
  for (const int64_t columns : {2, 300}) {
    at::Tensor inputs = at::randn({120, columns}, random_stream({6}), at::TensorOptions(at::kDouble));
    inputs.select(1, 0) += 200 * cloud;
    const Partition partition = make_partition(inputs, {24, 4}, random_stream({7}));
    ASSERT_EQ(partition.batches.size(), 5u);
    for (size_t b = 0; b < 5; ++b) {
      const at::Tensor own = cloud.index_select(0, partition.batches[b]);
      EXPECT_LE(std::get<0>(at::_unique(own)).numel(), 2);
      EXPECT_TRUE(at::isin(cloud.index_select(0, partition.companions_of(b)), own).all().item<bool>());
    }
  }
}

TEST(Partition, InputsThatAreAllAlikeOrWholeNumbersAreDividedToo) {
  for (const at::Tensor& inputs : {at::zeros({9, 2}), at::zeros({9, 2}, at::kLong)}) {
    const Partition partition = make_partition(inputs, {4, 2}, random_stream({1}));
    ASSERT_EQ(partition.batches.size(), 3u);
    EXPECT_EQ(partition.companions_of(2).numel(), 2);
  }
}

TEST(Partition, FollowsItsKey) {
  const auto draw = [](uint64_t key) {
    return at::cat(make_partition(some_inputs(50), {10, 0}, random_stream({key})).batches);
  };
  EXPECT_TRUE(draw(3).equal(draw(3)));
  EXPECT_FALSE(draw(3).equal(draw(4)));
}

TEST(Partition, RefusesBatchesOfNothing) {
  for (const int64_t largest : {0, -3})
    testing::expect_error(ErrorKind::usage, {std::to_string(largest), "at least one"}, [&] {
      make_partition(some_inputs(5), {largest, 0}, random_stream({1}));
    });
  for (const int64_t shared : {-1, 3, 4})
    testing::expect_error(ErrorKind::usage, {"share " + std::to_string(shared), "own"}, [&] {
      make_partition(some_inputs(5), {3, shared}, random_stream({1}));
    });
}

}  // namespace
}  // namespace ockham
