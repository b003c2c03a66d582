#include "experiments/image_data.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_images.h"

namespace ockham::paper {
namespace {

using testing::expect_error;
using testing::TemporaryDirectory;
using testing::tiny_images;
using testing::write_cifar_directory;
using testing::write_idx_directory;

TEST(ImageData, ASetIsFoundByItsNameOrByItsBeginning) {
  const TemporaryDirectory data;
  write_cifar_directory(data.path("cifar-100-subset"), 6, 3, 1);
  write_cifar_directory(data.path("svhn_cropped"), 6, 3, 1);
  EXPECT_EQ(find_image_set(data.path(""), "cifar-10"), std::nullopt) << "cifar-100 is another set";
  EXPECT_EQ(find_image_set(data.path(""), "cifar-100"), data.path("cifar-100-subset"));
  EXPECT_EQ(find_image_set(data.path(""), "svhn"), data.path("svhn_cropped"));
  write_cifar_directory(data.path("cifar-10"), 6, 3, 1);
  EXPECT_EQ(find_image_set(data.path(""), "cifar-10"), data.path("cifar-10"));
  std::filesystem::create_directory(data.path("mnist"));
  EXPECT_EQ(find_image_set(data.path(""), "mnist"), std::nullopt) << "an empty directory holds no images";
}

TEST(ImageData, WhatIsMissingIsSaidWithTheCommandThatGetsIt) {
  const TemporaryDirectory data;
  expect_error(ErrorKind::data, {"ockham data mnist --to", "ockham data cifar-10 --to"}, [&] {
    present_sets(data.path(""), {"mnist", "cifar-10"});
  });
  write_idx_directory(data.path("mnist"), tiny_images(6, 1, 8, 1), 3, 2);
  EXPECT_EQ(present_sets(data.path(""), {"mnist", "cifar-10"}), std::vector<std::string>{"mnist"});
  EXPECT_EQ(missing_sets(data.path(""), {"mnist", "cifar-10", "svhn", "cifar-100"}).size(), 3u);
}

TEST(ImageData, ImagesAreDrawnByTheSeedInTheirOrder) {
  const TemporaryDirectory data;
  const ImageSet all = tiny_images(30, 1, 8, 1);
  write_idx_directory(data.path("mnist"), all, 12, 2);
  const ImageProblem problem = read_image_problem(data.path("mnist"), 10, 5, 7);
  EXPECT_EQ(problem.training.size(), 10);
  EXPECT_EQ(problem.test.size(), 5);
  EXPECT_EQ(problem.shape, (std::vector<int64_t>{1, 8, 8}));
  EXPECT_EQ(problem.classes.size(), 3u);

  int64_t place = 0;  // in `all`: every drawn image comes after the one before
  for (int64_t n = 0; n < problem.training.size(); ++n) {
    while (place < all.size() && !all.images[place].equal(problem.training.inputs()[n])) ++place;
    ASSERT_LT(place, all.size());
    EXPECT_EQ(all.labels[place].item<int64_t>(), problem.training.targets()[n].item<int64_t>());
    ++place;
  }
  const ImageProblem again = read_image_problem(data.path("mnist"), 10, 5, 7);
  EXPECT_TRUE(again.training.inputs().equal(problem.training.inputs()));
  const ImageProblem other = read_image_problem(data.path("mnist"), 10, 5, 8);
  EXPECT_FALSE(other.training.inputs().equal(problem.training.inputs()));
  EXPECT_EQ(read_image_problem(data.path("mnist"), 100, 0, 7).training.size(), 30);
  EXPECT_EQ(read_other_images(data.path("mnist"), 0, 7).size(0), 12);
}

TEST(ImageData, TheScalingIsThatOfTheDrawnImages) {
  const TemporaryDirectory data;
  write_idx_directory(data.path("mnist"), tiny_images(30, 1, 8, 1), 12, 2);
  const ImageProblem problem = read_image_problem(data.path("mnist"), 10, 5, 7);
  const at::Tensor values = problem.training.inputs().to(at::kDouble) / 255;
  EXPECT_NEAR(problem.scaling.mean.at(0), values.mean().item<double>(), 1e-9);
}

TEST(ImageData, OtherFilesAreAnotherDescription) {
  const TemporaryDirectory data;
  write_cifar_directory(data.path("a"), 6, 3, 1);
  write_cifar_directory(data.path("b"), 6, 3, 1);
  write_cifar_directory(data.path("c"), 7, 3, 1);
  EXPECT_EQ(describe_files(data.path("a")), describe_files(data.path("b")));
  EXPECT_NE(describe_files(data.path("a")), describe_files(data.path("c")));
}

TEST(ImageData, WithoutTestImagesThereIsNoExperiment) {
  const TemporaryDirectory data;
  write_idx_directory(data.path("mnist"), tiny_images(6, 1, 8, 1), 0, 2);
  expect_error(ErrorKind::data, {"no test images"}, [&] { read_image_problem(data.path("mnist"), 0, 0, 0); });
}

}  // namespace
}  // namespace ockham::paper
