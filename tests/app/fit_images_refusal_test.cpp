// Bad images: one sentence that names the file and the place, and nothing written.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ockham/data/npy.h"
#include "tests/support/image_makers.h"
#include "tests/support/run_fixture.h"
#include "tests/support/tiny_images.h"

namespace ockham::testing {
namespace {

constexpr int usage = 2, data = 3;
using Strings = std::vector<std::string>;

class FitImagesRefusal : public RunFixture {
 protected:
  void expect_bad(int exit_code, const Strings& mentioned, const std::string& directory,
                  const Strings& more = {}) const {
    Strings arguments = {"fit", path(directory), "--out", path("run"), "--network", "linear", "--epochs", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refusal(exit_code, mentioned, arguments);
    EXPECT_FALSE(std::filesystem::exists(path("run")));
  }
  std::string folder(const std::string& name) const {
    std::filesystem::create_directories(path(name));
    return path(name);
  }
};

TEST_F(FitImagesRefusal, DamagedIdxFiles) {
  write_idx_directory(path("idx"), tiny_images(12, 1, 8, 1), 0, 0);
  const std::string images = path("idx") + "/train-images-idx3-ubyte",
                    labels = path("idx") + "/train-labels-idx1-ubyte";
  const std::string good_images = read_bytes(images), good_labels = read_bytes(labels);
  write_bytes(images, good_images.substr(0, good_images.size() - 5));
  expect_bad(data, {"train-images-idx3-ubyte", "byte"}, "idx");
  write_bytes(images, good_images.substr(0, 7));
  expect_bad(data, {"train-images-idx3-ubyte"}, "idx");
  write_bytes(images, good_images);
  write_bytes(labels, good_labels.substr(0, good_labels.size() - 1));
  expect_bad(data, {"train-labels-idx1-ubyte"}, "idx");
  std::string far_label = good_labels;
  far_label.back() = static_cast<char>(200);
  write_bytes(labels, far_label);
  expect_bad(data, {"train-labels-idx1-ubyte", "200", "image 12"}, "idx");
  std::filesystem::remove(labels);
  expect_bad(data, {"train-labels-idx1-ubyte"}, "idx");
}

TEST_F(FitImagesRefusal, DamagedCifarRecords) {
  write_cifar_directory(path("cifar"), 6, 0, 1);
  const std::string file = path("cifar") + "/data_batch_1.bin", good = read_bytes(file);
  write_bytes(file, good.substr(0, good.size() - 100));
  expect_bad(data, {"data_batch_1.bin", "truncated"}, "cifar");
  std::string wrong = good;
  wrong[3 * 3073] = 77;
  write_bytes(file, wrong);
  expect_bad(data, {"data_batch_1.bin", "77"}, "cifar");
  write_bytes(file, "");
  expect_bad(data, {"data_batch_1.bin"}, "cifar");
}

TEST_F(FitImagesRefusal, FoldersThatDoNotFitTogether) {
  const std::string cats = folder("pets/cats"), dogs = folder("pets/dogs");
  write_bytes(cats + "/1.png", grey_png(8, 8, 1));
  expect_bad(data, {"dogs"}, "pets");  // an empty class
  write_bytes(dogs + "/1.png", grey_png(8, 9, 1));
  expect_bad(data, {"1.png", "8"}, "pets");  // another size
  write_bytes(dogs + "/1.png", grey_png(8, 8, 1).substr(0, 60));
  expect_bad(data, {"dogs", "1.png"}, "pets");  // corrupt
  std::filesystem::remove_all(path("pets"));
  folder("pets");
  expect_bad(data, {"pets"}, "pets");  // nothing at all
}

TEST_F(FitImagesRefusal, OneClassOrTestImagesOfAnotherSize) {
  ImageSet one = tiny_images(12, 1, 8, 1);
  one.labels.zero_();
  write_idx_directory(path("one"), one, 0, 0);
  expect_bad(data, {"one class", "'0'", "two"}, "one");
  write_idx_directory(path("idx"), tiny_images(12, 1, 8, 1), 0, 0);
  write_idx_directory(path("large"), tiny_images(12, 1, 10, 1), 0, 0);
  expect_bad(data, {"10 × 10", "8 × 8"}, "idx", {"--test", path("large")});
}

TEST_F(FitImagesRefusal, FlagsThatImagesDoNotHave) {
  write_idx_directory(path("idx"), tiny_images(12, 1, 8, 1), 6, 2);
  expect_bad(usage, {"--target"}, "idx", {"--target", "y"});
  expect_bad(usage, {"--task regression"}, "idx", {"--task", "regression"});
  expect_bad(usage, {"--likelihood gaussian"}, "idx", {"--likelihood", "gaussian"});
  expect_bad(usage, {"--prior ard"}, "idx", {"--prior", "ard"});
  expect_bad(usage, {"--train-size 13", "12 images"}, "idx", {"--train-size", "13"});
  expect_bad(usage, {"--test-size 7", "6 images"}, "idx", {"--test-size", "7"});
  expect_bad(usage, {"--augment", "crop-flip"}, "idx", {"--augment", "crop-flp"});
  expect_bad(usage, {"--preset", "paper-images"}, "idx", {"--preset", "paper-image"});
  expect_bad(usage, {"3c3d"}, "idx", {"--network", "cnn:3d3c"});
}

TEST_F(FitImagesRefusal, ArraysThatAreNoImagesOrNoLabels) {
  write_npy(path("x.npy"), at::zeros({4, 1, 8, 8}));
  const auto expect_bad_arrays = [&](const Strings& mentioned, const std::string& inputs, const std::string& targets) {
    expect_refusal(data, mentioned,
                   {"fit", "--inputs", path(inputs), "--targets", path(targets), "--out", path("run")});
    EXPECT_FALSE(std::filesystem::exists(path("run")));
  };
  write_npy(path("five.npy"), at::zeros({4, 1, 8, 8, 2}));
  write_npy(path("y.npy"), at::arange(4, at::kLong));
  expect_bad_arrays({"five.npy", "[N, C, H, W]"}, "five.npy", "y.npy");
  write_npy(path("short.npy"), at::arange(3, at::kLong));
  expect_bad_arrays({"short.npy", "4 images"}, "x.npy", "short.npy");
  write_npy(path("halves.npy"), at::arange(4, at::kDouble) / 2);
  expect_bad_arrays({"halves.npy", "whole numbers"}, "x.npy", "halves.npy");
}

}  // namespace
}  // namespace ockham::testing
