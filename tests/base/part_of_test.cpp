#include "ockham/base/part_of.h"

#include <gtest/gtest.h>

namespace ockham {
namespace {

TEST(PartOf, TilesTheRange) {
  for (const int64_t n : {0, 1, 7, 64, 1001})
    for (const int64_t count : {1, 2, 3, 10}) {
      int64_t next = 0;
      for (int64_t index = 0; index < count; ++index) {
        const Range range = part_of(n, {index, count});
        EXPECT_EQ(range.first, next);
        EXPECT_GE(range.length, n / count);
        EXPECT_LE(range.length, n / count + 1);
        next = range.end();
      }
      EXPECT_EQ(next, n);
    }
}

}  // namespace
}  // namespace ockham
