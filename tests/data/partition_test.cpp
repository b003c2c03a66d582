#include "ockham/data/partition.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

TEST(Partition, EveryExampleIsInOneBatchOrSharedAndSizesDifferByOneAtMost) {
  for (const int64_t examples : {1, 2, 7, 10, 100}) {
    for (const int64_t largest : {1, 2, 3, 7, 10, 99, 1000}) {
      for (const int64_t shared : {int64_t{0}, largest / 2, largest - 1}) {
        const PartitionSizes sizes{largest, shared};
        const Partition partition = random_partition(examples, sizes, random_stream({1}));
        EXPECT_EQ(static_cast<int64_t>(partition.batches.size()), batch_count(examples, sizes));
        EXPECT_EQ(partition.shared.numel(), examples <= largest ? 0 : shared);
        int64_t most = 0, fewest = examples;
        for (size_t b = 0; b < partition.batches.size(); ++b) {
          const int64_t size = partition.examples_of(b).numel();
          EXPECT_EQ(size, partition.shared.numel() + partition.batches[b].numel());
          most = std::max(most, size);
          fewest = std::min(fewest, size);
        }
        EXPECT_LE(most, largest);
        EXPECT_LE(most - fewest, 1);
        const at::Tensor all = at::cat({partition.shared, at::cat(partition.batches)});
        EXPECT_TRUE(std::get<0>(all.sort()).equal(at::arange(examples)));
      }
    }
  }
  EXPECT_EQ(batch_count(10, {5, 0}), 2);
  EXPECT_EQ(batch_count(11, {5, 0}), 3);
  EXPECT_EQ(batch_count(10, {5, 2}), 3);
  EXPECT_EQ(batch_count(10, {10, 9}), 1);
}

TEST(Partition, FollowsItsKey) {
  const auto draw = [](uint64_t key) { return at::cat(random_partition(50, {10, 0}, random_stream({key})).batches); };
  EXPECT_TRUE(draw(3).equal(draw(3)));
  EXPECT_FALSE(draw(3).equal(draw(4)));
}

TEST(Partition, RefusesBatchesOfNothing) {
  for (const int64_t largest : {0, -3})
    testing::expect_error(ErrorKind::usage, {std::to_string(largest), "at least one"}, [&] {
      random_partition(5, {largest, 0}, random_stream({1}));
    });
  for (const int64_t shared : {-1, 3, 4})
    testing::expect_error(ErrorKind::usage, {"share " + std::to_string(shared), "own"}, [&] {
      random_partition(5, {3, shared}, random_stream({1}));
    });
}

}  // namespace
}  // namespace ockham
