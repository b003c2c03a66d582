#include "ockham/network/archive_check.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/inline_container.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <sstream>

#include "ockham/network/torchscript.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torchscript_builder.h"

namespace ockham {
namespace {

using testing::expect_error;

std::string little_endian(uint64_t value, size_t width) {
  std::string bytes(width, '\0');
  for (size_t i = 0; i < std::min(width, sizeof value); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

/// An entry that says of itself what it likes.
struct ClaimedEntry {
  std::string bytes;  // as they lie in the file
  uint64_t size, stored_size, offset = 0;
  uint32_t checksum;
  uint16_t method;
  std::string extra;  // in the directory
};

constexpr uint16_t stored = 0, deflated = 8;
constexpr uint64_t in_zip64 = 0xFFFFFFFF;
const std::string text = "hello, hello, hello, hello";

uint32_t checksum_of_text() {
  return static_cast<uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

ClaimedEntry stored_text() { return {text, text.size(), text.size(), 0, checksum_of_text(), stored, ""}; }

ClaimedEntry deflated_text() {
  std::string packed(100, '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return {packed, text.size(), packed.size(), 0, checksum_of_text(), deflated, ""};
}

/// The entries, all named "e"; their offsets are added to where they lie.
std::string make_zip(const std::vector<ClaimedEntry>& entries) {
  std::string file, directory;
  for (const ClaimedEntry& entry : entries) {
    const std::string fields = little_endian(entry.method, 2) + little_endian(0, 4) + little_endian(entry.checksum, 4) +
                               little_endian(entry.stored_size, 4) + little_endian(entry.size, 4) + little_endian(1, 2);
    directory += "PK\x01\x02" + little_endian(20, 2) + little_endian(20, 2) + little_endian(0, 2) + fields +
                 little_endian(entry.extra.size(), 2) + little_endian(0, 10) +
                 little_endian(file.size() + entry.offset, 4) + "e" + entry.extra;
    file +=
        "PK\x03\x04" + little_endian(20, 2) + little_endian(0, 2) + fields + little_endian(0, 2) + "e" + entry.bytes;
  }
  return file + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(entries.size(), 2) +
         little_endian(entries.size(), 2) + little_endian(directory.size(), 4) + little_endian(file.size(), 4) +
         little_endian(0, 2);
}

void check_zip(const std::vector<ClaimedEntry>& entries) {
  std::istringstream bytes(make_zip(entries));
  check_archive(bytes, "network.pt");
}

class ArchiveCheck : public ::testing::Test {
 protected:
  ArchiveCheck() {
    testing::TorchScriptBuilder()
        .parameter("weight", weight_)
        .define("def forward(self, x):\n    return torch.linear(x, self.weight)\n")
        .save(path_);
    good_ = testing::read_bytes(path_);
  }

  /// Where the file holds the weight.
  size_t weight_position() const {
    return good_.find(std::string(static_cast<const char*>(weight_.data_ptr()), weight_.nbytes()));
  }

  /// From the first byte of each entry to the descriptor behind its last, by libtorch's own reader.
  std::vector<std::pair<size_t, size_t>> entries() const {
    testing::write_bytes(path_, good_);
    caffe2::serialize::PyTorchStreamReader reader(path_);
    std::vector<std::pair<size_t, size_t>> ranges;
    for (const auto& name : reader.getAllRecords()) {
      const size_t begin = reader.getRecordOffset(name);
      ranges.emplace_back(begin, good_.find("PK\x07\x08", begin));
    }
    return ranges;
  }

  void expect_refused(const std::string& bytes, const std::vector<std::string>& mentioned = {}) const {
    testing::write_bytes(path_, bytes);
    expect_error(ErrorKind::data, {path_, "TorchScript", "again"}, [&] { check_archive(path_); });
    expect_error(ErrorKind::data, mentioned, [&] { check_archive(path_); });
  }

  /// The good file with `value` written in `width` bytes at `position`, least first.
  std::string with(size_t position, uint64_t value, size_t width) const {
    std::string bytes = good_;
    for (size_t i = 0; i < width; ++i) bytes.at(position + i) = static_cast<char>(value >> (8 * i));
    return bytes;
  }

  const at::Tensor weight_ = at::randn({20, 30}, at::kDouble);
  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.path("network.pt");
  std::string good_;
};

TEST_F(ArchiveCheck, WhatLibtorchSavesPasses) {
  EXPECT_NO_THROW(check_archive(path_));
  EXPECT_GE(entries().size(), 4u);
}

TEST_F(ArchiveCheck, ADamagedWeightIsRefused) {
  const size_t position = weight_position();
  ASSERT_NE(position, std::string::npos);
  std::string bytes = good_;
  bytes[position + weight_.nbytes() / 2] ^= 1;
  expect_refused(bytes, {"/data/0'", "checksum"});
  expect_error(ErrorKind::data, {path_, "/data/0'"}, [&] { load_torchscript(path_, at::kDouble); });
}

TEST_F(ArchiveCheck, ATruncatedFileIsRefusedAtEveryLength) {
  for (size_t length = 0; length < good_.size(); length += length < good_.size() - 200 ? 97 : 1)
    expect_refused(good_.substr(0, length));
  expect_refused(good_.substr(1));
}

TEST_F(ArchiveCheck, AGarbageDirectoryIsRefused) {
  const size_t end = good_.rfind("PK\x05\x06"), wide = good_.rfind("PK\x06\x06"), first = good_.find("PK\x01\x02");
  ASSERT_NE(end, std::string::npos);
  ASSERT_NE(wide, std::string::npos);
  std::string overwritten = good_;
  for (size_t i = first; i < end; ++i) overwritten[i] = 'x';
  expect_refused(overwritten, {"directory"});
  for (const uint64_t huge : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{good_.size()}}) {
    expect_refused(with(wide + 32, huge, 8), {"directory"});  // how many entries
    expect_refused(with(wide + 40, huge, 8), {"directory"});  // the directory's size
    expect_refused(with(wide + 48, huge, 8), {"directory"});  // and its place
    expect_refused(with(end - 12, huge, 8));                  // the place of the wide record
    expect_refused(with(first + 20, huge & 0xFFFFFFFF, 4));   // an entry's sizes
    expect_refused(with(first + 24, huge & 0xFFFFFFFF, 4));
    expect_refused(with(first + 42, (huge | 1) & 0x7FFFFFFF, 4));  // its place
    expect_refused(with(first + 28, 0xFFFF, 2));                   // its name's length
  }
}

TEST_F(ArchiveCheck, AWeightMarkedAsAFolderIsRefused) {
  expect_refused(with(good_.find("PK\x01\x02") + 38, 0x10, 1), {"/data/0'", "folder"});
}

/// Whatever byte is hit, and whatever it becomes: refused, or of no consequence.
TEST_F(ArchiveCheck, NoDamagedByteChangesTheNetworkInSilence) {
  const auto ranges = entries();
  std::mt19937 random(1);
  int refused_inside = 0;
  for (int repetition = 0; repetition < 300; ++repetition) {
    const size_t position = std::uniform_int_distribution<size_t>(0, good_.size() - 1)(random);
    const int change = std::uniform_int_distribution<int>(1, 255)(random);
    std::string bytes = good_;
    bytes[position] = static_cast<char>(bytes[position] ^ change);
    testing::write_bytes(path_, bytes);
    bool refused = false;
    try {
      const Network network = load_torchscript(path_, at::kDouble);
      EXPECT_TRUE(network.parameters()[0].equal(weight_)) << "byte " << position;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      refused = true;
    }
    for (const auto& [begin, end] : ranges) {
      // The last byte of a deflated entry may hold bits that mean nothing.
      if (position < begin || position + 1 >= end) continue;
      EXPECT_TRUE(refused) << "byte " << position;
      ++refused_inside;
    }
  }
  EXPECT_GT(refused_inside, 100);
}

TEST_F(ArchiveCheck, ADamagedDeflatedEntryIsRefused) {
  int deflated = 0;
  for (const auto& [begin, end] : entries()) {
    const size_t header = good_.rfind("PK\x03\x04", begin);
    if (good_[header + 8] != 8) continue;
    ++deflated;
    for (size_t position = begin; position + 1 < end; ++position) {
      std::string bytes = good_;
      bytes[position] ^= 0x10;
      expect_refused(bytes, {"entry"});
    }
  }
  EXPECT_GT(deflated, 0) << "libtorch is expected to compress the code";
}

TEST(ArchiveClaims, BeyondTheFileAreRefused) {
  EXPECT_NO_THROW(check_zip({stored_text(), deflated_text()}));
  const auto expect_refused = [](ClaimedEntry entry, const std::string& mentioned) {
    expect_error(ErrorKind::data, {"network.pt", mentioned, "again"}, [&] { check_zip({stored_text(), entry}); });
    expect_error(ErrorKind::data, {"network.pt", mentioned}, [&] { check_zip({entry, deflated_text()}); });
  };
  for (const ClaimedEntry& honest : {stored_text(), deflated_text()}) {
    for (const uint64_t claim : {uint64_t{1} << 20, uint64_t{0xFFFFFFFE}}) {
      ClaimedEntry entry = honest;
      entry.size = entry.stored_size = claim;
      expect_refused(entry, "damaged");
      entry = honest;
      entry.offset = claim;
      expect_refused(entry, "damaged");
    }
    // In 64 bits: fields of other kinds may come before, but all of them must be there.
    for (const uint64_t claim : {uint64_t{1} << 40, uint64_t{1} << 63, ~uint64_t{0}}) {
      ClaimedEntry entry = honest;
      entry.size = entry.stored_size = in_zip64;
      entry.extra = little_endian(7, 2) + little_endian(3, 2) + "any" + little_endian(1, 2) + little_endian(16, 2) +
                    little_endian(claim, 8) + little_endian(claim, 8);
      expect_refused(entry, "damaged");
      entry.extra = little_endian(1, 2) + little_endian(8, 2) + little_endian(claim, 8);
      expect_refused(entry, "its size is missing");
      entry.extra = little_endian(1, 2) + little_endian(0xFFFF, 2) + little_endian(claim, 8);
      expect_refused(entry, "its size is missing");
      entry.extra = little_endian(9, 2) + little_endian(0xFFFF, 2);
      expect_refused(entry, "its size is missing");
    }
  }
  ClaimedEntry entry = deflated_text();
  entry.size = 0xFFFFFFFE;
  expect_refused(entry, "its size is wrong");
  entry.size = 3;
  expect_refused(entry, "longer than the directory says");
  entry = deflated_text();
  entry.stored_size -= 1;
  expect_refused(entry, "it cannot be inflated");
  entry = stored_text();
  entry.size = 1 << 30;
  expect_refused(entry, "its two sizes differ");
}

/// A buffer of a megabyte was made and cleared for each that is deflated.
TEST(ArchiveClaims, ManySmallEntriesTakeLittleTime) {
  const auto seconds = [](const ClaimedEntry& entry) {
    const std::vector<ClaimedEntry> many(60000, entry);
    const std::clock_t start = std::clock();
    EXPECT_NO_THROW(check_zip(many));
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(deflated_text()), 5 * seconds(stored_text()));
}

TEST_F(ArchiveCheck, AFileThatIsNoArchiveIsRefused) {
  for (const char* text : {"", "x", "this is no archive", "PK\x05\x06"}) expect_refused(text, {"no ZIP directory"});
  expect_refused(std::string(200000, 'P'), {"no ZIP directory"});
  expect_error(ErrorKind::data, {"none.pt", "cannot be read"}, [&] { check_archive(directory_.path("none.pt")); });
}

}  // namespace
}  // namespace ockham
