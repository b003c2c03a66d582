#include "ockham/base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::read_bytes;
using testing::write_bytes;

class AtomicFileTest : public ::testing::Test {
 protected:
  int64_t entries() const {
    const fs::directory_iterator list(fs::path(path_).parent_path());
    return std::distance(begin(list), end(list));
  }
  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.path("file");
};

/// Files may not grow beyond so many bytes while it lives; writing more is an error instead of a signal.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(AtomicFileTest, WritesPiecesAndReplacesWhatWasThere) {
  write_atomically(path_, {"one ", std::string_view("\0two", 4), "", " three"});
  EXPECT_EQ(read_bytes(path_), std::string("one \0two three", 14));
  write_atomically(path_, "short");
  EXPECT_EQ(read_file(path_), "short");
  write_atomically(path_, "");
  EXPECT_EQ(read_file(path_), "");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, WritesInTheWorkingDirectoryAndUnderTheLongestName) {
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(path_).parent_path());
  write_atomically("plain", "x");
  fs::current_path(before);
  EXPECT_EQ(read_file(directory_.path("plain")), "x");
  const std::string longest(255, 'n');
  write_atomically(directory_.path(longest), "y");
  EXPECT_EQ(read_file(directory_.path(longest)), "y");
  expect_error(ErrorKind::failure, {"name is too long"},
               [&] { write_atomically(directory_.path(longest + "n"), "z"); });
}

TEST_F(AtomicFileTest, KeepsPermissionsAndFollowsLinks) {
  write_atomically(path_, "old");
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("file", directory_.path("link"));
  write_atomically(directory_.path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(directory_.path("link")));
  EXPECT_EQ(read_file(path_), "new");
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(entries(), 2);
}

TEST_F(AtomicFileTest, WritesToDevicesDirectly) {
  write_atomically("/dev/null", "nothing");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_error(ErrorKind::failure, {"/dev/full", "disk is full"}, [] { write_atomically("/dev/full", "x"); });
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_file(path_); });
  write_atomically(path_, "through a pipe");
  reader.join();
  EXPECT_EQ(received, "through a pipe");
  EXPECT_TRUE(fs::is_fifo(path_));
}

TEST_F(AtomicFileTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  write_atomically(path_, "precious");
  {
    const FileSizeLimit limit(1000);
    expect_error(ErrorKind::failure, {path_, "cannot be written", "ulimit"},
                 [&] { write_atomically(path_, std::string(5000, 'x')); });
  }
  EXPECT_EQ(read_file(path_), "precious");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, IsWrittenPieceByPieceAndThereWhenItIsWhole) {
  write_atomically(path_, "old");
  {
    AtomicFile file(path_);
    file.write("new ");
    file.write("content");
    EXPECT_EQ(read_file(path_), "old");
    file.commit();
    EXPECT_EQ(read_file(path_), "new content");
  }
  {
    AtomicFile given_up(path_);
    given_up.write("never");
    EXPECT_EQ(entries(), 2);
  }
  EXPECT_EQ(read_file(path_), "new content");
  EXPECT_EQ(entries(), 1);
  AtomicFile device("/dev/null");
  device.write("nothing");
  device.commit();
}

TEST_F(AtomicFileTest, SaysWhyItCannotWrite) {
  expect_error(ErrorKind::failure, {"no/file", "directory does not exist"},
               [&] { write_atomically(directory_.path("no/file"), "x"); });
  write_bytes(path_, "x");
  expect_error(ErrorKind::failure, {"a part of its path is a file"}, [&] { write_atomically(path_ + "/below", "x"); });
  expect_error(ErrorKind::failure, {"is a directory"}, [&] { write_atomically(directory_.path(""), "x"); });
  EXPECT_EQ(entries(), 1);
  for (const int number : {ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EIO, EMFILE}) EXPECT_NE(failure_reason(number), "");
}

TEST_F(AtomicFileTest, RespectsAProtectedFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  write_bytes(path_, "mine");
  fs::permissions(path_, fs::perms::owner_read);
  expect_error(ErrorKind::failure, {"permission denied"}, [&] { write_atomically(path_, "theirs"); });
  EXPECT_EQ(read_file(path_), "mine");
}

TEST_F(AtomicFileTest, AppendsWholeLinesOnly) {
  append_line(path_, "{\"epoch\": 1}");
  append_line(path_, "{\"epoch\": 2}", Durability::on_disk);
  EXPECT_EQ(read_file(path_), "{\"epoch\": 1}\n{\"epoch\": 2}\n");
  expect_error(ErrorKind::failure, {"newline"}, [&] { append_line(path_, "a\nb"); });
  {
    const FileSizeLimit limit(100);
    expect_error(ErrorKind::failure, {path_}, [&] { append_line(path_, std::string(200, 'x')); });
  }
  EXPECT_EQ(read_file(path_), "{\"epoch\": 1}\n{\"epoch\": 2}\n");
  expect_error(ErrorKind::failure, {"does not exist"}, [&] { append_line(directory_.path("no/file"), "x"); });
}

TEST_F(AtomicFileTest, GoesBackToTheFirstLines) {
  write_bytes(path_, "1\n2\n3\ntor");
  keep_lines(path_, 3);
  EXPECT_EQ(read_file(path_), "1\n2\n3\n");
  keep_lines(path_, 1);
  EXPECT_EQ(read_file(path_), "1\n");
  expect_error(ErrorKind::data, {path_, "1 whole lines but 2"}, [&] { keep_lines(path_, 2); });
  keep_lines(path_, 0);
  EXPECT_EQ(read_file(path_), "");
}

TEST_F(AtomicFileTest, ReadsFilesAndSaysWhyNot) {
  const std::string large(200000, 'x');
  write_bytes(path_, large);
  EXPECT_EQ(read_file(path_), large);
  expect_error(ErrorKind::data, {"missing", "no such file"}, [&] { read_file(directory_.path("missing")); });
  expect_error(ErrorKind::data, {"is a directory"}, [&] { read_file(directory_.path("")); });
}

TEST_F(AtomicFileTest, ClearsAwayWhatAKilledProcessLeft) {
  write_bytes(directory_.path(".ockham-77-3.partial"), "half");
  write_bytes(directory_.path(".ockham-notes"), "mine");
  write_bytes(directory_.path("x.partial"), "mine");
  remove_partial_files(directory_.path(""));
  EXPECT_EQ(entries(), 2);
  remove_partial_files(directory_.path("missing"));
}

TEST_F(AtomicFileTest, MakesDirectories) {
  make_directories(directory_.path("a/b"));
  make_directories(directory_.path("a/b"));
  EXPECT_TRUE(fs::is_directory(directory_.path("a/b")));
  write_bytes(path_, "x");
  expect_error(ErrorKind::failure, {path_}, [&] { make_directories(path_); });
  expect_error(ErrorKind::failure, {path_}, [&] { make_directories(path_ + "/below"); });
}

}  // namespace
}  // namespace ockham
