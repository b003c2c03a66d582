#include "ockham/base/cgroup.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace ockham {
namespace {

TEST(CgroupDirectories, GoesFromTheProcessToTheRoot) {
  const std::vector<std::string> directories = cgroup_directories("memory");
  for (const std::string& directory : directories) EXPECT_EQ(directory.rfind("/sys/fs/cgroup", 0), 0u) << directory;
  if (!directories.empty()) {
    EXPECT_TRUE(directories.back() == "/sys/fs/cgroup" || directories.back() == "/sys/fs/cgroup/memory");
  }
}

TEST(ReadLine, GivesTheFirstLineOrNothing) {
  const std::string path = testing::TempDir() + "ockham_read_line";
  std::ofstream(path) << "max 100000\nsecond\n";
  EXPECT_EQ(read_line(path), "max 100000");
  std::remove(path.c_str());
  EXPECT_EQ(read_line(path), "");
}

}  // namespace
}  // namespace ockham
