#include "ockham/distributed/agreement.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"

namespace ockham {
namespace {

using testing::run_ranks;

TEST(Agreement, AloneNothingChanges) {
  Alone alone;
  EXPECT_EQ(broadcast_text(alone, "text"), "text");
  EXPECT_FALSE(is_true_anywhere(alone, false));
  EXPECT_EQ(gather_counts(alone, 7), std::vector<int64_t>{7});
  EXPECT_EQ(alone.add("counter", 2), 2);
  EXPECT_EQ(alone.add("counter", 3), 5);
  // An error is that of the work itself.
  EXPECT_THROW(attempt_together(alone, [] { throw std::out_of_range("work"); }), std::out_of_range);
}

TEST(Agreement, EveryRankHearsTheSame) {
  run_ranks(3, [](Communicator& ranks) {
    EXPECT_EQ(gather_counts(ranks, 10 * ranks.rank()), (std::vector<int64_t>{0, 10, 20}));
    EXPECT_TRUE(is_true_anywhere(ranks, ranks.rank() == 2));
    EXPECT_FALSE(is_true_anywhere(ranks, false));
    EXPECT_EQ(broadcast_text(ranks, "of rank " + std::to_string(ranks.rank()), 1), "of rank 1");
    EXPECT_EQ(broadcast_text(ranks, "", 0), "");
    attempt_together(ranks, [] {});
  });
}

TEST(Agreement, WhatFailsOnOneRankFailsOnAllInTheSameSentence) {
  run_ranks(3, [](Communicator& ranks) {
    const auto fail = [&](int64_t from) {
      attempt_together(ranks, [&] {
        if (ranks.rank() >= from)
          throw Error(ErrorKind::data, "the file of rank " + std::to_string(ranks.rank()) + " is bad");
      });
    };
    testing::expect_error(ErrorKind::data, {"the file of rank 0 is bad"}, [&] { fail(0); });
    testing::expect_error(ErrorKind::data, {"rank 1: the file of rank 1 is bad"}, [&] { fail(1); });
    EXPECT_THROW(fail(2), SharedError);
    testing::expect_error(ErrorKind::failure, {"rank 2: unexpected failure: other"}, [&] {
      attempt_together(ranks, [&] {
        if (ranks.rank() == 2) throw std::runtime_error("other\nand a back-trace");
      });
    });
  });
}

}  // namespace
}  // namespace ockham
