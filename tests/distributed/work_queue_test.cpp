#include "ockham/distributed/work_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>

#include "tests/support/run_ranks.h"

namespace ockham {
namespace {

using testing::run_ranks;

TEST(WorkQueue, HandsOutEveryItemOnce) {
  std::mutex mutex;
  std::vector<int> taken(20, 0);
  run_ranks(3, [&](Communicator& ranks) {
    const Heartbeat heartbeat(ranks);
    WorkQueue queue(ranks, {"work", taken.size(), 10, 0.01});
    while (const auto item = queue.take()) {
      {
        const std::lock_guard<std::mutex> lock(mutex);
        ++taken[*item];
      }
      queue.finish(*item);
    }
    EXPECT_TRUE(queue.all_finished());
  });
  EXPECT_EQ(taken, std::vector<int>(20, 1));
}

TEST(WorkQueue, WhatALostRankHadIsTakenOverOnce) {
  std::mutex mutex;
  std::vector<int> finished(4, 0);
  run_ranks(3, [&](Communicator& ranks) {
    WorkQueue queue(ranks, {"work", finished.size(), 1.5, 0.05});
    if (ranks.rank() == 2) {
      EXPECT_TRUE(queue.take());  // and never finishes it: it has no heart
      return;
    }
    const Heartbeat heartbeat(ranks);
    while (ranks.add("work/next", 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    while (const auto item = queue.take()) {
      {
        const std::lock_guard<std::mutex> lock(mutex);
        ++finished[*item];
      }
      queue.finish(*item);
    }
  });
  EXPECT_EQ(finished, std::vector<int>(4, 1));
}

TEST(WorkQueue, WhoDoesNotGoOnEndsWithoutWaiting) {
  run_ranks(2, [](Communicator& ranks) {
    WorkQueue queue(ranks, {"work", 1, 60, 0.01});
    int asked = 0;
    const auto item = queue.take([&] { return ++asked < 3; });
    EXPECT_EQ(queue.take([] { return false; }), std::nullopt);
    EXPECT_FALSE(queue.all_finished());
    (void)item;
  });
}

}  // namespace
}  // namespace ockham
