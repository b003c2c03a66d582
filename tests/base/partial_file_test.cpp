#include "ockham/base/partial_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "ockham/base/atomic_file.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;

class PartialFileTest : public ::testing::Test {
 protected:
  int64_t entries() const {
    const fs::directory_iterator list(directory_.path(""));
    return std::distance(begin(list), end(list));
  }
  /// In a process of its own, which ends by itself.
  static void in_another_process(const std::function<void()>& work) {
    const pid_t process = ::fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
      work();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
  }
  testing::TemporaryDirectory directory_;
};

TEST_F(PartialFileTest, GoesUnlessItIsRenamed) {
  {
    const PartialFile one(directory_.path("")), two(directory_.path(""));
    EXPECT_EQ(entries(), 2);
  }
  EXPECT_EQ(entries(), 0);
  {
    PartialFile file(directory_.path(""));
    ASSERT_EQ(::write(file.descriptor(), "x", 1), 1);
    EXPECT_FALSE(file.rename_to(directory_.path("no/such/place")));
    EXPECT_TRUE(file.rename_to(directory_.path("named")));
  }
  EXPECT_EQ(testing::read_bytes(directory_.path("named")), "x");
  EXPECT_EQ(entries(), 1);
  EXPECT_THROW(PartialFile(directory_.path("missing")), std::system_error);
}

TEST_F(PartialFileTest, StaysWhileSomebodyWritesIt) {
  PartialFile mine(directory_.path(""));
  in_another_process([&] { remove_partial_files(directory_.path("")); });
  EXPECT_EQ(entries(), 1);
  EXPECT_TRUE(mine.rename_to(directory_.path("file")));
}

TEST_F(PartialFileTest, IsClearedAwayByTheNextWriterAfterAKill) {
  in_another_process([&] {
    PartialFile unfinished(directory_.path(""));
    ::raise(SIGKILL);
  });
  EXPECT_EQ(entries(), 1);
  write_atomically(directory_.path("file"), "new");
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(read_file(directory_.path("file")), "new");
}

TEST_F(PartialFileTest, IsRemovedWhenTheProcessEndsSuddenly) {
  in_another_process([&] {
    const PartialFile one(directory_.path("")), two(directory_.path(""));
    AtomicFile three(directory_.path("file"));
    three.write("half");
    remove_unfinished_files();
    try {
      const PartialFile none(directory_.path(""));  // the process is over
    } catch (const std::system_error&) {
      ::raise(SIGKILL);
    }
    testing::write_bytes(directory_.path("begun-after-the-end"), "");
  });
  EXPECT_EQ(entries(), 0);
}

TEST_F(PartialFileTest, ManyAtOnceAreFine) {
  std::vector<std::unique_ptr<PartialFile>> many;
  for (int i = 0; i < 40; ++i) many.push_back(std::make_unique<PartialFile>(directory_.path("")));
  EXPECT_EQ(entries(), 40);
  many.clear();
  EXPECT_EQ(entries(), 0);
}

}  // namespace
}  // namespace ockham
