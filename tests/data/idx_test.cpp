#include "ockham/data/idx.h"

#include <string>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/image_makers.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::big_endian;
using testing::counted_bytes;
using testing::gzip;
using testing::make_idx;
using testing::write_bytes;

class Idx : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    write_bytes(directory_.path(name), bytes);
    return directory_.path(name);
  }
  void expect_refusal(const std::string& bytes, std::vector<std::string> mentioned) {
    const std::string path = write("images-idx3-ubyte", bytes);
    mentioned.push_back(path);
    testing::expect_error(ErrorKind::data, mentioned, [&] { read_idx_array(path, 3); });
  }
  testing::TemporaryDirectory directory_;
};

const std::string six = make_idx({2, 1, 3}, counted_bytes(6, 250));

TEST_F(Idx, ReadsImagesAndLabelsPlainAndPacked) {
  const at::Tensor expected = at::tensor({250, 251, 252, 253, 254, 255}, at::kByte).view({2, 1, 1, 3});
  const std::string labels = make_idx({2}, std::string("\x07\x00", 2));
  for (const bool packed : {false, true}) {
    const ImageSet set = read_idx(write("i", packed ? gzip(six) : six), write("l", packed ? gzip(labels) : labels));
    EXPECT_EQ(set.images.scalar_type(), at::kByte);
    EXPECT_TRUE(at::equal(set.images, expected));
    EXPECT_TRUE(at::equal(set.labels, at::tensor({7, 0}, at::kLong)));
    EXPECT_EQ(set.size(), 2);
  }
}

TEST_F(Idx, ReadsMoreThanOneGzipBlock) {
  const std::string values = counted_bytes(300 * 28 * 28, 3, 7);
  const at::Tensor images = read_idx_array(write("i.gz", gzip(make_idx({300, 28, 28}, values))), 3);
  EXPECT_EQ(std::string(static_cast<const char*>(images.data_ptr()), values.size()), values);
}

TEST_F(Idx, RefusesOtherFiles) {
  expect_refusal("", {"truncated", "16 bytes", "0 are there"});
  expect_refusal(six.substr(0, 9), {"truncated", "16 bytes", "9 are there"});
  expect_refusal("PK rubbish that is long", {"504b2072", "00000803", "no IDX file"});
  expect_refusal(make_idx({6}, counted_bytes(6)), {"00000801", "labels, not images"});
  expect_refusal(make_idx({0, 28, 28}, ""), {"holds nothing"});
  testing::expect_error(ErrorKind::data, {"nowhere", "no such file"},
                        [&] { read_idx_array(directory_.path("nowhere"), 1); });
  testing::expect_error(ErrorKind::data, {"is a directory"}, [&] { read_idx_array(directory_.path(""), 1); });
}

TEST_F(Idx, RefusesWhatIsTruncatedOrTooLong) {
  expect_refusal(six.substr(0, 20), {"truncated", "6 bytes", "[2, 1, 3]", "4 are there"});
  expect_refusal(gzip(six.substr(0, 20)), {"truncated", "6 bytes", "4 are there when unpacked"});
  expect_refusal(six + "x", {"bytes after the 6 values"});
  expect_refusal(gzip(six + "x"), {"bytes after the 6 values"});
}

TEST_F(Idx, RefusesDamagedGzip) {
  std::string packed = gzip(make_idx({100, 10, 10}, counted_bytes(10000, 0, 37)));
  expect_refusal(packed.substr(0, packed.size() / 2), {"ends too early"});
  packed[packed.size() / 2] ^= 0x55;
  packed[packed.size() - 6] ^= 0x55;  // its checksum
  expect_refusal(packed, {"damaged gzip"});
}

TEST_F(Idx, TakesNoMemoryForWhatAHeaderOnlyPromises) {
  const std::string most = "\xff\xff\xff\xff";
  const std::string absurd = big_endian(0x0803) + most + most + most;
  expect_refusal(absurd, {"impossible size"});
  expect_refusal(gzip(absurd), {"impossible size"});
  const std::string huge = make_idx({60000, 60000, 28}, counted_bytes(10));
  expect_refusal(huge, {"truncated", "100800000000 bytes", "10 are there"});
  expect_refusal(gzip(huge), {"100800000000 bytes", "more than a gzip file of this size can hold"});
}

TEST_F(Idx, UnpacksNoMoreThanTheHeaderPromises) {
  expect_refusal(gzip(make_idx({1, 1, 2}, std::string(50'000'000, '\0'))), {"bytes after the 2 values"});
}

TEST_F(Idx, RefusesAnotherNumberOfLabels) {
  const std::string images = write("i", six), labels = write("l", make_idx({3}, "abc"));
  testing::expect_error(ErrorKind::data, {images + " has 2 images", labels + " has 3 labels"},
                        [&] { read_idx(images, labels); });
}

}  // namespace
}  // namespace ockham
