#include "ockham/data/image_directory.h"

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/image_makers.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/without_rights.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;
using testing::counted_bytes;
using testing::grey_png;
using testing::gzip;
using testing::make_idx;
using testing::make_record;

class ImageDirectoryTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name = "") const { return directory_.path(name); }
  void write(const std::string& name, const std::string& bytes) {
    fs::create_directories(fs::path(path(name)).parent_path());
    testing::write_bytes(path(name), bytes);
  }
  void write_idx(const std::string& part, const std::string& labels, uint32_t height = 2) {
    const auto count = static_cast<uint32_t>(labels.size());
    write(part + "-images-idx3-ubyte", make_idx({count, height, 2}, counted_bytes(count * height * 2)));
    write(part + "-labels-idx1-ubyte", make_idx({count}, labels));
  }
  void expect_refusal(const std::vector<std::string>& mentioned) {
    testing::expect_error(ErrorKind::data, mentioned, [&] { read_image_directory(path()); });
  }
  testing::TemporaryDirectory directory_;
};

const std::string labels_0_2_1("\0\2\1", 3);

TEST_F(ImageDirectoryTest, ReadsIdxPlainOrPacked) {
  write_idx("train", labels_0_2_1);
  EXPECT_EQ(image_layout(path()), ImageLayout::idx);
  EXPECT_FALSE(read_image_directory(path()).test.has_value());
  write("t10k-images-idx3-ubyte.gz", gzip(make_idx({1, 2, 2}, "abcd")));
  write("t10k-labels-idx1-ubyte.gz", gzip(make_idx({1}, "\1")));
  const ImageDirectory found = read_image_directory(path());
  EXPECT_EQ(found.layout, ImageLayout::idx);
  EXPECT_EQ(found.training.classes, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(found.training.images.sizes().vec(), (std::vector<int64_t>{3, 1, 2, 2}));
  ASSERT_TRUE(found.test.has_value());
  EXPECT_EQ(found.test->labels.item<int64_t>(), 1);
  EXPECT_EQ(found.test->classes.size(), 3u);
}

TEST_F(ImageDirectoryTest, RefusesBadIdxLabels) {
  write_idx("train", labels_0_2_1);
  write_idx("t10k", std::string("\0\3", 2));
  expect_refusal({"t10k-labels-idx1-ubyte", "label 3 of image 2", "byte 9", "0 to 2"});
  write_idx("t10k", "\1");
  write_idx("train", std::string("\0\1\xc8\1", 4));
  expect_refusal({"train-labels-idx1-ubyte", "label 200 of image 3", "byte 10", "out of range"});
  fs::remove(path("train-labels-idx1-ubyte"));
  expect_refusal({"train-labels-idx1-ubyte", "missing"});
}

TEST_F(ImageDirectoryTest, RefusesTestImagesOfAnotherSize) {
  write_idx("train", labels_0_2_1);
  write_idx("t10k", "\1", 3);
  expect_refusal({"t10k-images-idx3-ubyte", "3 x 2", "train-images-idx3-ubyte", "2 x 2"});
}

TEST_F(ImageDirectoryTest, ReadsCifar10InTheOrderOfNames) {
  write("data_batch_2.bin", make_record({2}, 20));
  write("data_batch_1.bin", make_record({9}, 10));
  write("test_batch.bin", make_record({0}, 30));
  EXPECT_EQ(image_layout(path()), ImageLayout::cifar10);
  ImageDirectory found = read_image_directory(path());
  EXPECT_TRUE(at::equal(found.training.labels, at::tensor({9, 2}, at::kLong)));
  EXPECT_EQ(found.training.classes[9], "9");
  EXPECT_EQ(found.test->images[0][0][0][0].item<int>(), 30);
  write("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  found = read_image_directory(path());
  EXPECT_EQ(found.training.classes[9], "j");
  EXPECT_EQ(found.test->classes, found.training.classes);
  write("test_batch.bin", make_record({10}, 30));
  expect_refusal({"test_batch.bin", "record 1", "label 10", "0 to 9"});
}

TEST_F(ImageDirectoryTest, TellsSvhnFromCifar100) {
  write("train.bin", make_record({3}, 0) + make_record({4}, 0));
  write("test.bin", make_record({3}, 0));
  EXPECT_EQ(image_layout(path()), ImageLayout::cifar10);
  EXPECT_EQ(read_image_directory(path()).test->size(), 1);
  write("train.bin", make_record({0, 98}, 0) + make_record({1, 3}, 0));
  write("test.bin", make_record({0, 98}, 0));
  EXPECT_EQ(image_layout(path()), ImageLayout::cifar100) << "by the length of a record";
  EXPECT_TRUE(at::equal(read_image_directory(path()).training.labels, at::tensor({98, 3}, at::kLong)));
  write("fine_label_names.txt", "a\nb\nc\nd\n");
  write("train.bin", make_record({0, 2}, 0) + make_record({1, 3}, 0).substr(0, 3000));
  EXPECT_EQ(image_layout(path()), ImageLayout::cifar100) << "by the names, though truncated";
  expect_refusal({"train.bin", "truncated", "record 2 at byte 3074", "3074 bytes", "3000 are there"});
}

TEST_F(ImageDirectoryTest, RefusesDamagedBatchesOfCifar) {
  const std::string whole = make_record({1}, 0) + make_record({2}, 0);
  write("data_batch_1.bin", whole);
  write("data_batch_2.bin", whole);
  write("test_batch.bin", whole);
  EXPECT_EQ(read_image_directory(path()).training.size(), 4);
  for (const std::string name : {"data_batch_1.bin", "data_batch_2.bin", "test_batch.bin"}) {
    for (const size_t kept : {size_t{1}, size_t{3072}, size_t{3074}, whole.size() - 1}) {
      write(name, whole.substr(0, kept));
      expect_refusal({name, "truncated", "3073 bytes"});
    }
    write(name, "");
    expect_refusal({name, "empty", "3073"});
    write(name, whole + "\xff");
    expect_refusal({name, "truncated", "record 3 at byte 6146", "1 are there"});
    write(name, make_record({1}, 0) + make_record({255}, 0));
    expect_refusal({name, "record 2", "label 255", "0 to 9"});
    write(name, whole);
  }
  fs::remove(path("data_batch_2.bin"));
  fs::create_directory(path("data_batch_2.bin"));
  fs::create_symlink("nowhere", path("data_batch_3.bin"));
  EXPECT_EQ(read_image_directory(path()).training.size(), 2) << "what is no file is no batch";
  std::string names;
  for (int k = 0; k < 257; ++k) names += "class\n";
  write("batches.meta.txt", names);
  expect_refusal({"batches.meta.txt", "257 classes"});
}

TEST_F(ImageDirectoryTest, RefusesWhatMayNotBeRead) {
  write("closed/data_batch_1.bin", make_record({1}, 0));
  fs::create_directory(path("closed/deeper"));
  fs::permissions(path(), fs::perms(0755));
  fs::permissions(path("closed"), fs::perms::none);
  {
    const testing::WithoutRights nobody;
    if (!nobody.works()) GTEST_SKIP() << "root cannot become another user here";
    for (const std::string name : {"closed", "closed/deeper"})
      testing::expect_error(ErrorKind::data, {name, "permission"}, [&] { read_image_directory(path(name)); });
  }
  fs::permissions(path("closed"), fs::perms::owner_all);
}

TEST_F(ImageDirectoryTest, ReadsFolders) {
  write("ant/1.png", grey_png(2, 2, 0));
  EXPECT_EQ(image_layout(path()), ImageLayout::folders);
  EXPECT_EQ(read_image_directory(path()).training.size(), 1) << "one class is enough to predict for";
  write("bee/1.png", grey_png(2, 2, 0));
  EXPECT_EQ(read_image_directory(path()).training.size(), 2);
  EXPECT_FALSE(read_image_directory(path()).test.has_value());
}

TEST_F(ImageDirectoryTest, ReadsFoldersInTwoParts) {
  write("train/ant/1.png", grey_png(2, 2, 0));
  write("train/bee/1.png", grey_png(2, 2, 9));
  write("test/bee/1.png", testing::colour_png(2, 2, 0));
  EXPECT_EQ(image_layout(path()), ImageLayout::folders);
  const ImageDirectory found = read_image_directory(path());
  EXPECT_EQ(found.test->labels.item<int64_t>(), 1);
  EXPECT_EQ(found.training.images.size(1), 3) << "colour, since the test images are";
  EXPECT_EQ(found.training.images[1][2][0][0].item<int>(), 9);
  write("test/cat/1.png", grey_png(2, 2, 0));
  expect_refusal({"test/cat", "does not occur in training"});
  fs::remove_all(path("test/cat"));
  write("test/bee/1.png", grey_png(2, 3, 0));
  expect_refusal({"/test:", "2 x 3", "/train", "2 x 2"});
}

TEST_F(ImageDirectoryTest, RefusesWhatIsNoLayout) {
  EXPECT_FALSE(image_layout(path()).has_value());
  expect_refusal({"no images of a known layout", "idx3-ubyte", "data_batch"});
  write("table.csv", "x,y\n1,2\n");
  EXPECT_FALSE(image_layout(path("table.csv")).has_value());
  testing::expect_error(ErrorKind::data, {"table.csv", "is a file"}, [&] { read_image_directory(path("table.csv")); });
  testing::expect_error(ErrorKind::data, {"nowhere", "no such"}, [&] { read_image_directory(path("nowhere")); });
}

}  // namespace
}  // namespace ockham
