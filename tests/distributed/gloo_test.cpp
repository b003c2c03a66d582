#include "ockham/distributed/gloo.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::run_ranks;

TEST(Gloo, SumsBroadcastsAndCounts) {
  std::mutex mutex;
  std::set<int64_t> counts;
  run_ranks(3, [&](Communicator& ranks) {
    const double mine = static_cast<double>(ranks.rank() + 1);
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kLong}) {
      at::Tensor values = at::full({1000}, mine, type);
      ranks.all_reduce_sum(values);
      EXPECT_TRUE(values.equal(at::full({1000}, 6, type)));
    }
    at::Tensor one = at::full({2, 3}, mine, at::kDouble);
    ranks.broadcast(one, 1);
    EXPECT_TRUE(one.equal(at::full({2, 3}, 2, at::kDouble)));
    const int64_t count = ranks.add("counter", 1);
    const std::lock_guard<std::mutex> lock(mutex);
    counts.insert(count);
  });
  EXPECT_EQ(counts, (std::set<int64_t>{1, 2, 3}));
}

TEST(Gloo, SumsHaveTheSameBitsOnEveryRankAndAgain) {
  const auto sum = [] {
    std::mutex mutex;
    std::vector<at::Tensor> sums;
    run_ranks(4, [&](Communicator& ranks) {
      at::Tensor values = at::randn({777}, at::kFloat) * 0;
      for (int64_t i = 0; i < values.numel(); ++i) values[i] = 1.0 / static_cast<double>(3 + i + 1000 * ranks.rank());
      ranks.all_reduce_sum(values);
      const std::lock_guard<std::mutex> lock(mutex);
      sums.push_back(values);
    });
    for (const at::Tensor& one : sums) EXPECT_TRUE(one.equal(sums.front()));
    return sums.front();
  };
  EXPECT_TRUE(sum().equal(sum()));
}

TEST(Gloo, ARankThatIsGoneIsNoticedAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  testing::expect_error(ErrorKind::peer_lost, {"2 ranks", "gone"}, [] {
    run_ranks(2, [](Communicator& ranks) {
      if (ranks.rank() == 1) return;
      at::Tensor values = at::ones({10});
      ranks.all_reduce_sum(values);
    });
  });
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10);
}

TEST(Gloo, ARankThatHangsIsNoticedAfterTheTimeout) {
  testing::expect_error(ErrorKind::peer_lost, {"did not answer for 1 s"}, [] {
    run_ranks(
        2,
        [](Communicator& ranks) {
          if (ranks.rank() == 1) return std::this_thread::sleep_for(std::chrono::seconds(3));
          at::Tensor values = at::ones({10});
          ranks.all_reduce_sum(values);
        },
        1);
  });
}

TEST(Gloo, ARankThatDoesNotComeIsNoticedAfterTheTimeout) {
  const testing::TemporaryDirectory directory;
  testing::expect_error(ErrorKind::peer_lost, {"rank 0 of 2", "within 1 s"}, [&] {
    connect_gloo({0, 2, directory.path("store"), "", 0}, 1);
  });
}

}  // namespace
}  // namespace ockham
