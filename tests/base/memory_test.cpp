#include "ockham/base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

namespace ockham {
namespace {

constexpr int64_t mebibyte = int64_t{1} << 20;

TEST(HumanBytes, HasTwoDigitsOrMore) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(999), "999 bytes");
  EXPECT_EQ(human_bytes(1500), "1.5 kB");
  EXPECT_EQ(human_bytes(20'000'000), "20 MB");
  EXPECT_EQ(human_bytes(999'999'999), "1.0 GB");
  EXPECT_EQ(human_bytes(1'500'000'000), "1.5 GB");
  EXPECT_EQ(human_bytes(9'960'000'000), "10 GB");
  EXPECT_EQ(human_bytes(5'000'000'000'000'000), "5.0 PB");
}

TEST(MemoryBudget, IsThreeQuartersOfWhatIsAvailable) {
  const int64_t available = available_memory_bytes();
  EXPECT_GT(available, 0);
  EXPECT_NEAR(static_cast<double>(default_memory_budget()), 0.75 * available, 0.1 * available);
}

TEST(AvailableMemory, FollowsTheAddressSpaceLimit) {
  const int64_t unlimited = available_memory_bytes();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "the address space is limited already";
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages;
  rlimit limited = before;
  limited.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + 256 * mebibyte);
  setrlimit(RLIMIT_AS, &limited);
  const int64_t available = available_memory_bytes();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_LE(available, std::min(unlimited, 256 * mebibyte));
  EXPECT_GT(available, 128 * mebibyte);
}

TEST(PeakMemory, RisesWithAnAllocationAndStartsAgain) {
  const int64_t level = resident_memory_bytes();
  EXPECT_GT(level, 0);
  {
    std::vector<char> block(static_cast<size_t>(64 * mebibyte), 1);
    EXPECT_GE(resident_memory_bytes(), level + 60 * mebibyte) << static_cast<int>(block[12345]);
  }
  EXPECT_GE(peak_memory_bytes(), level + 60 * mebibyte);
  reset_peak_memory();
  if (peak_memory_bytes() >= level + 60 * mebibyte) GTEST_SKIP() << "this kernel does not let the peak be reset";
  EXPECT_LT(peak_memory_bytes(), level + 32 * mebibyte);
}

}  // namespace
}  // namespace ockham
