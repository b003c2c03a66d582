#include "ockham/store/checkpoint.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::read_bytes;
using testing::write_bytes;

const std::string fingerprint_text = "0123456789abcdef";

class CheckpointFile : public ::testing::Test {
 protected:
  static Checkpoint example() {
    Checkpoint checkpoint;
    checkpoint.tensors = {{"weight/0", at::randn({3, 2}, at::kDouble)}, {"step", at::arange(4)}};
    checkpoint.bytes = {{"optimiser", std::string("\0\xff\n\"x", 5)}, {"empty", ""}};
    checkpoint.numbers = {{"third", 1.0 / 3}, {"worst", -INFINITY}, {"none", NAN}, {"minus", -0.0}};
    checkpoint.counts = {{"epoch", 17}, {"least", std::numeric_limits<int64_t>::min()}};
    return checkpoint;
  }
  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.path("0.safetensors");
};

TEST_F(CheckpointFile, ComesBackBitForBit) {
  const Checkpoint checkpoint = example();
  write_checkpoint(path_, checkpoint, fingerprint_text);
  const Checkpoint back = read_checkpoint(path_, fingerprint_text);
  ASSERT_EQ(back.tensors.size(), 2U);
  EXPECT_TRUE(back.tensor("weight/0").equal(checkpoint.tensor("weight/0")));
  EXPECT_TRUE(back.tensor("step").equal(at::arange(4)));
  EXPECT_EQ(back.bytes, checkpoint.bytes);
  EXPECT_EQ(back.counts, checkpoint.counts);
  ASSERT_EQ(back.numbers.size(), 4U);
  EXPECT_EQ(back.number("third"), 1.0 / 3);
  EXPECT_EQ(back.number("worst"), -INFINITY);
  EXPECT_TRUE(std::isnan(back.number("none")));
  EXPECT_TRUE(std::signbit(back.number("minus")));
  write_checkpoint(path_, {}, fingerprint_text);
  EXPECT_TRUE(read_checkpoint(path_, fingerprint_text).tensors.empty());
}

TEST_F(CheckpointFile, NamesWhatIsNotThere) {
  write_checkpoint(path_, example(), fingerprint_text);
  const Checkpoint back = read_checkpoint(path_, fingerprint_text);
  expect_error(ErrorKind::data, {path_, "no tensor 'best'", "--resume"}, [&] { back.tensor("best"); });
  expect_error(ErrorKind::data, {path_, "no bytes 'best'"}, [&] { back.byte_string("best"); });
  expect_error(ErrorKind::data, {path_, "no number 'epoch'"}, [&] { back.number("epoch"); });
  expect_error(ErrorKind::data, {path_, "no count 'third'"}, [&] { back.count("third"); });
}

TEST_F(CheckpointFile, RefusesMissingForeignAndOtherConfigurations) {
  expect_error(ErrorKind::data, {path_, "no such checkpoint"}, [&] { read_checkpoint(path_, fingerprint_text); });
  write_safetensors(path_, {{{"w", at::ones({2})}}, {}});
  expect_error(ErrorKind::data, {path_, "no checkpoint of ockham"}, [&] { read_checkpoint(path_, fingerprint_text); });
  write_safetensors(path_, {{}, {{"kind", "ockham checkpoint"}, {"format", "2"}}});
  expect_error(ErrorKind::data, {path_, "format '2'"}, [&] { read_checkpoint(path_, fingerprint_text); });
  write_checkpoint(path_, example(), fingerprint_text);
  expect_error(ErrorKind::data, {path_, "another configuration"}, [&] { read_checkpoint(path_, "other"); });
}

TEST_F(CheckpointFile, NoticesEveryDamagedByte) {
  write_checkpoint(path_, example(), fingerprint_text);
  const std::string whole = read_bytes(path_);
  for (size_t at = 0; at < whole.size(); ++at) {
    // Padding is the one place where a byte may change and the header still means the same.
    if (whole[at] == ' ') continue;
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::filesystem::remove(path_);  // rewriting in place makes some file systems wait for the disk
    write_bytes(path_, bytes);
    expect_error(ErrorKind::data, {path_}, [&] { read_checkpoint(path_, fingerprint_text); });
    if (HasFailure()) FAIL() << "byte " << at;
  }
  for (const size_t size : {size_t{0}, size_t{7}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write_bytes(path_, whole.substr(0, size));
    expect_error(ErrorKind::data, {path_}, [&] { read_checkpoint(path_, fingerprint_text); });
  }
}

void write_until_killed(const std::string& path, Checkpoint& checkpoint) noexcept {
  auto* values = static_cast<double*>(checkpoint.tensors["w"].data_ptr());
  for (int64_t epoch = 1;; ++epoch) {
    for (int i = 0; i < 20000; ++i) values[i] = static_cast<double>(epoch);
    checkpoint.counts["epoch"] = epoch;
    write_checkpoint(path, checkpoint, fingerprint_text);
  }
}

// A process that writes one checkpoint after the other is killed at some moment: one of them is there, whole.
TEST_F(CheckpointFile, SurvivesBeingKilledWhileWriting) {
  Checkpoint checkpoint;
  checkpoint.tensors["w"] = at::zeros({20000}, at::kDouble);
  checkpoint.counts["epoch"] = 0;
  write_checkpoint(path_, checkpoint, fingerprint_text);
  for (int trial = 0; trial < 8; ++trial) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      write_until_killed(path_, checkpoint);
      ::_exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + 7 * trial));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const Checkpoint back = read_checkpoint(path_, fingerprint_text);
    EXPECT_TRUE(back.tensor("w").eq(static_cast<double>(back.count("epoch"))).all().item<bool>());
  }
}

}  // namespace
}  // namespace ockham
