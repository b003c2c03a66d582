#include "ockham/data/csv_source.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "ockham/data/csv.h"
#include "ockham/data/csv_stream.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::TemporaryDirectory;
using testing::write_bytes;

class CsvSource : public ::testing::Test {
 protected:
  std::string gzip(const std::string& text) {
    const std::string path = directory_.path("packed");
    write_bytes(path, text);
    EXPECT_EQ(std::system(("gzip -nf '" + path + "'").c_str()), 0);
    return testing::read_bytes(path + ".gz");
  }
  void expect_refusal(const std::string& bytes, const std::vector<std::string>& mentioned,
                      const std::string& name = "t.csv") {
    const std::string path = directory_.path(name);
    write_bytes(path, bytes);
    auto all = mentioned;
    all.push_back(name);
    expect_error(ErrorKind::data, all, [&] { read_csv(path); });
  }
  TemporaryDirectory directory_;
};

TEST_F(CsvSource, UnpacksGzipWhateverItsName) {
  for (const std::string name : {"t.csv.gz", "t.csv"}) {
    const std::string path = directory_.path(name);
    write_bytes(path, gzip("a,b\n1,2\n") + gzip("3,4\n"));
    EXPECT_EQ(read_csv(path).rows(), 2) << "two members";
  }
  std::string large = "a,b\n";
  for (int row = 0; row < 200000; ++row) large += "1,2\n";
  EXPECT_EQ(unpack_gzip("t", gzip(large)), large) << "grows beyond the first guess";
}

TEST_F(CsvSource, RefusesDamagedGzip) {
  const std::string packed = gzip("a,b\n1,2\n3,4\n5,6\n");
  for (size_t kept = 2; kept < packed.size(); ++kept) {
    expect_refusal(packed.substr(0, kept), {"gzip", "ends too early"}, "t.csv.gz");
  }
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // within the check sum
  expect_refusal(damaged, {"damaged gzip"}, "t.csv.gz");
  expect_refusal("a,b\n1,2\n", {"is not a gzip file"}, "t.csv.gz");
}

/// Whatever bit is hit: refused, or of no consequence; as a whole and as a stream.
TEST_F(CsvSource, NoDamagedBitChangesAPackedTableInSilence) {
  std::string text = "a,b\n";
  for (int row = 0; row < 12; ++row) text += std::to_string(37 * row % 101) + "," + std::to_string(row) + "\n";
  const std::string packed = gzip(text) + gzip("1,2\n"), path = directory_.path("t.csv.gz");
  text += "1,2\n";
  write_bytes(path, packed + std::string(300000, '\0'));
  EXPECT_EQ(read_source(path), text) << "padding";
  int refused = 0;
  for (size_t bit = 0; bit < 8 * packed.size(); ++bit) {
    std::string damaged = packed;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_bytes(path, damaged);
    std::string sentence;
    try {
      EXPECT_EQ(read_source(path), text) << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      sentence = error.what();
      ++refused;
    }
    if (bit % 3 != 0) continue;  // a stream takes more time
    const auto stream = [&] {
      CsvStream rows(path);
      while (rows.next(16)) {
      }
    };
    if (sentence.empty()) {
      EXPECT_NO_THROW(stream()) << "bit " << bit;
    } else {
      expect_error(ErrorKind::data, {"t.csv.gz"}, stream);
    }
  }
  EXPECT_GT(refused, static_cast<int>(6 * packed.size()));
}

/// 300 MB in a file of some kilobytes, while there are 256 MB.
TEST_F(CsvSource, RefusesWhatUnpacksBeyondTheMemory) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "the address space is limited already";
  const std::string member = gzip(std::string(1 << 20, '1'));
  std::string packed;
  for (int k = 0; k < 300; ++k) packed += member;
  const std::string path = directory_.path("t.csv.gz");
  write_bytes(path, packed);
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages;
  rlimit limited = before;
  limited.rlim_cur = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE)) + (rlim_t{256} << 20);
  ::setrlimit(RLIMIT_AS, &limited);
  std::string sentence;
  try {
    read_csv(path);
  } catch (const std::exception& error) {
    sentence = error.what();
  }
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_NE(sentence.find("t.csv.gz: holds more than"), std::string::npos) << sentence;
}

TEST_F(CsvSource, RefusesWhatIsNoText) {
  expect_refusal(std::string("a,b\n1,2\n3,\0\n", 12), {"line 3, byte 3", "NUL"});
  expect_refusal("a,b\nM\xfcller,2\n", {"line 2, byte 2", "0xfc", "Latin-1", "iconv"});
  for (const std::string wrong :
       {"\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"}) {
    expect_refusal("a\n" + wrong, {"line 2, byte 1", "not UTF-8"});
  }
  expect_refusal(std::string("\xff\xfe"
                             "a\0,\0b\0",
                             8),
                 {"UTF-16"});
  expect_refusal("PK\x03\x04zip", {"spreadsheet", "export"});
  expect_refusal(std::string("PAR1\x15\0", 6), {"Parquet"});
  expect_refusal("<!DOCTYPE html>\n<p>a, b</p>\n", {"web page"});
  expect_refusal("[{\"a\": 1}]\n", {"JSON"});
  expect_refusal("@relation x\n@data\n1,2\n", {"ARFF", "@"});
  std::string right = "name\nM\xc3\xbcller\n\xe2\x82\xac\n\xf0\x9f\x98\x80\n";
  check_text("t", right);
  EXPECT_EQ(right.size(), 22u);
}

TEST_F(CsvSource, RefusesWhatIsNoFile) {
  expect_error(ErrorKind::data, {"nothing.csv", "no such file"}, [&] { read_csv(directory_.path("nothing.csv")); });
  expect_error(ErrorKind::data, {"is a directory"}, [&] { read_csv(directory_.path("")); });
  if (::access("/proc/self/mem", R_OK) == 0) {  // opens, but its first page cannot be read
    expect_error(ErrorKind::data, {"cannot be read"}, [] { read_csv("/proc/self/mem"); });
  }
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const std::string path = directory_.path("locked.csv");
  write_bytes(path, "a\n1\n");
  ::chmod(path.c_str(), 0);
  expect_error(ErrorKind::data, {"locked.csv", "permissions"}, [&] { read_csv(path); });
}

TEST_F(CsvSource, ReadsStandardInputByParts) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  ASSERT_EQ(::write(ends[1], "a,b\n1,2\n", 8), 8);
  ::close(ends[1]);
  const CsvTable table = read_csv("-");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved), ::close(ends[0]);
  EXPECT_EQ(table.rows(), 1);
  EXPECT_EQ(table.path, "standard input");
}

}  // namespace
}  // namespace ockham
