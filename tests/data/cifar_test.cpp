#include "ockham/data/cifar.h"

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
using testing::make_record;
using testing::write_bytes;

class Cifar : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    write_bytes(directory_.path(name), bytes);
    return directory_.path(name);
  }
  testing::TemporaryDirectory directory_;
  const std::vector<std::string> three_ = {"ant", "bee", "cat"};
};

TEST_F(Cifar, ReadsRecordsOfSeveralFilesInOrder) {
  const std::string first = write("a.bin", make_record({2}, 0) + make_record({0}, 50));
  const std::string second = write("b.bin", make_record({1}, 100));
  const ImageSet set = read_cifar({second, first}, cifar10_record, three_);
  EXPECT_EQ(set.images.sizes().vec(), (std::vector<int64_t>{3, 3, 32, 32}));
  EXPECT_TRUE(at::equal(set.labels, at::tensor({1, 2, 0}, at::kLong)));
  EXPECT_EQ(set.classes, three_);
  for (const auto& [row, start] : {std::pair{0, 100}, {1, 0}, {2, 50}}) {
    const at::Tensor expected = (at::arange(3072, at::kLong) + start).remainder(256).to(at::kByte);
    EXPECT_TRUE(at::equal(set.images[row].flatten(), expected)) << "planes, rows, columns";
  }
}

TEST_F(Cifar, TakesTheFineLabelOfHundredClasses) {
  const std::string path = write("train.bin", make_record({19, 1}, 4) + make_record({3, 2}, 5));
  const ImageSet set = read_cifar({path}, cifar100_record, three_);
  EXPECT_TRUE(at::equal(set.labels, at::tensor({1, 2}, at::kLong)));
  EXPECT_EQ(set.images[1][0][0][0].item<int>(), 5);
}

TEST_F(Cifar, RefusesDamage) {
  const auto expect_refusal = [&](const std::string& bytes, std::vector<std::string> mentioned) {
    const std::string path = write("damaged.bin", bytes);
    mentioned.push_back(path);
    testing::expect_error(ErrorKind::data, mentioned, [&] { read_cifar({path}, cifar10_record, three_); });
  };
  expect_refusal("", {"empty", "3073"});
  expect_refusal(make_record({1}, 0) + make_record({1}, 0).substr(0, 1000),
                 {"truncated", "record 2 at byte 3073", "3073 bytes", "1000 are there"});
  expect_refusal(make_record({1}, 0) + make_record({3}, 0), {"record 2", "label 3", "byte 3073", "0 to 2"});
  expect_refusal(make_record({255}, 0), {"record 1", "label 255", "byte 0"});
  testing::expect_error(ErrorKind::data, {"nowhere", "no such file"},
                        [&] { read_cifar({directory_.path("nowhere")}, cifar10_record, three_); });
}

TEST_F(Cifar, RefusesWhatMayNotBeRead) {
  fs::create_directory(directory_.path("closed"));
  const std::string path = write("closed/data_batch_1.bin", make_record({1}, 0));
  fs::permissions(directory_.path("closed"), fs::perms::none);
  {
    const testing::WithoutRights nobody;
    if (!nobody.works()) GTEST_SKIP() << "root cannot become another user here";
    testing::expect_error(ErrorKind::data, {path, "permission denied"},
                          [&] { read_cifar({path}, cifar10_record, three_); });
  }
  fs::permissions(directory_.path("closed"), fs::perms::owner_all);
  testing::expect_error(ErrorKind::data, {"closed", "is a directory"}, [&] {
    read_cifar({path, directory_.path("closed")}, cifar10_record, three_);
  });
}

TEST_F(Cifar, ReadsClassNames) {
  const std::string path = write("batches.meta.txt", "ant\r\nbee\n\ncat\n\n");
  EXPECT_EQ(read_class_names(path, 10), three_);
  EXPECT_EQ(read_class_names(directory_.path("nowhere"), 3), (std::vector<std::string>{"0", "1", "2"}));
  testing::expect_error(ErrorKind::data, {"names no classes"}, [&] { read_class_names(write("m", "\n\n"), 3); });
}

}  // namespace
}  // namespace ockham
