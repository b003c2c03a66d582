#include "ockham/base/cpu.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <string>
#include <thread>

namespace ockham {
namespace {

TEST(AvailableCpus, IsAtLeastOneAndAtMostTheMachine) {
  EXPECT_GE(available_cpus(), 1);
  EXPECT_LE(available_cpus(), static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(AvailableCpus, FollowsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cpus(), 1);
  sched_setaffinity(0, sizeof before, &before);
}

TEST(CpuVectorUnit, AgreesWithTheKernel) {
  std::ifstream file("/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(file, line) && flags.empty();)
    if (line.rfind("flags", 0) == 0) flags = line + " ";
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo lists no flags";
  auto has = [&flags](const char* name) { return flags.find(std::string(" ") + name + " ") != std::string::npos; };
  const VectorUnit expected = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl")
                                  ? VectorUnit::avx512
                              : has("avx2") && has("fma") ? VectorUnit::avx2
                              : has("avx")                ? VectorUnit::avx
                                                          : VectorUnit::baseline;
  EXPECT_EQ(cpu_vector_unit(), expected);
}

}  // namespace
}  // namespace ockham
