#include "ockham/store/run_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::expect_error;

TEST(RunLock, IsHeldOnceAndGivenBack) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path("");
  std::optional<RunLock> lock(path);
  EXPECT_TRUE(lock->held());
  expect_error(ErrorKind::failure, {"in use by process " + std::to_string(::getpid())}, [&] { RunLock second(path); });
  RunLock moved(std::move(*lock));
  lock.reset();
  expect_error(ErrorKind::failure, {"in use"}, [&] { RunLock second(path); });
  moved = RunLock();
  EXPECT_FALSE(moved.held());
  EXPECT_TRUE(RunLock(path).held());
}

TEST(RunLock, NamesTheOtherProcessAndOutlivesNoKill) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path("");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const RunLock lock(path);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  expect_error(ErrorKind::failure, {"in use by process " + std::to_string(child)}, [&] { RunLock second(path); });
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(RunLock(path).held());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(RunLock, SaysWhyItCannotBeMade) {
  expect_error(ErrorKind::failure, {"does/not/exist"}, [] { RunLock lock("does/not/exist"); });
}

}  // namespace
}  // namespace ockham
