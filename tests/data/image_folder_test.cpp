#include "ockham/data/image_folder.h"

#include <filesystem>
#include <string>
#include <vector>

#include "tests/data/jpeg_maker.h"
#include "tests/support/expect_error.h"
#include "tests/support/image_makers.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;
using testing::colour_png;
using testing::grey_png;

class ImageFolder : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) {
    fs::create_directories(fs::path(directory_.path(name)).parent_path());
    testing::write_bytes(directory_.path(name), bytes);
  }
  ImageSet read(const std::vector<std::string>& classes = {}) {
    return read_class_folders(directory_.path(""), classes);
  }
  void expect_refusal(const std::vector<std::string>& mentioned, const std::vector<std::string>& classes = {}) {
    testing::expect_error(ErrorKind::data, mentioned, [&] { read(classes); });
  }
  testing::TemporaryDirectory directory_;
};

TEST_F(ImageFolder, ReadsClassesAndFilesByName) {
  write("bee/2.png", grey_png(2, 3, 20));
  write("bee/1.PNG", grey_png(2, 3, 10));
  write("ant/z.png", grey_png(2, 3, 30));
  write("ant/notes.txt", "not an image");
  write("ant/.hidden.png", "not an image either");
  write(".git/x.png", "");
  write("README", "about");
  const ImageSet set = read();
  EXPECT_EQ(set.classes, (std::vector<std::string>{"ant", "bee"}));
  EXPECT_EQ(set.images.sizes().vec(), (std::vector<int64_t>{3, 1, 2, 3})) << "all are grey: one channel";
  EXPECT_TRUE(at::equal(set.labels, at::tensor({0, 1, 1}, at::kLong)));
  EXPECT_TRUE(at::equal(set.images.select(3, 0).select(2, 0).flatten(), at::tensor({30, 10, 20}, at::kByte)));
}

TEST_F(ImageFolder, MakesAllColourWhenOneIs) {
  write("a/1.png", grey_png(2, 2, 7));
  write("a/2.jpeg", testing::make_jpeg(2, 2, testing::JpegColour::colour, {250, 120, 10}));
  write("b/1.jpg", colour_png(2, 2, 50));  // a PNG by another name
  write("b/2.png", grey_png(2, 2, 90));
  const ImageSet set = read();
  EXPECT_EQ(set.images.sizes().vec(), (std::vector<int64_t>{4, 3, 2, 2}));
  for (int64_t channel = 0; channel < 3; ++channel) {
    EXPECT_EQ(set.images[0][channel][0][1].item<int>(), 8);
    EXPECT_EQ(set.images[2][channel][0][0].item<int>(), 50 + channel);
    EXPECT_EQ(set.images[3][channel][1][1].item<int>(), 93);
  }
  EXPECT_NEAR(set.images[1][0][0][0].item<int>(), 250, 3);
}

TEST_F(ImageFolder, TakesTheClassesOfTraining) {
  write("bee/1.png", grey_png(2, 2, 1));
  const ImageSet set = read({"ant", "bee", "cat"});
  EXPECT_TRUE(at::equal(set.labels, at::tensor({1}, at::kLong)));
  EXPECT_EQ(set.classes.size(), 3u);
  expect_refusal({"bee", "does not occur in training"}, {"ant", "cat"});
  expect_refusal({"did you mean 'beer'"}, {"ant", "beer"});
}

TEST_F(ImageFolder, RefusesMixedSizes) {
  write("a/1.png", grey_png(2, 3, 1));
  write("b/2.png", grey_png(3, 2, 1));
  expect_refusal({"b/2.png", "2 pixels wide and 3 high", "a/1.png", "3 by 2"});
}

TEST_F(ImageFolder, RefusesWhatCannotBeRead) {
  write("a/1.png", grey_png(2, 3, 1));
  write("a/2.png", grey_png(2, 3, 1).substr(0, 45));
  expect_refusal({"a/2.png", "PNG", "ends too early"});
  write("a/2.png", "GIF89a");
  expect_refusal({"a/2.png", "does not begin as"});
  write("a/2.png", "");
  expect_refusal({"a/2.png", "is empty"});
  const std::string jpeg = testing::make_jpeg(2, 3, testing::JpegColour::grey, {7});
  write("a/2.png", jpeg.substr(0, jpeg.size() / 2));
  expect_refusal({"a/2.png", "JPEG"});
}

TEST_F(ImageFolder, RefusesClassesWithoutImages) {
  write("a/1.png", grey_png(2, 3, 1));
  fs::create_directory(directory_.path("b"));
  expect_refusal({"/b:", "class folder is empty"});
  write("b/notes.txt", "x");
  expect_refusal({"/b:", "holds no PNG or JPEG files"});
}

TEST_F(ImageFolder, KnowsWhetherThereAreClassFolders) {
  const std::string path = directory_.path("");
  EXPECT_FALSE(has_class_folders(path));
  expect_refusal({"has no folders"});
  write("1.png", grey_png(1, 1, 1));
  write("texts/x.csv", "");
  EXPECT_FALSE(has_class_folders(path));
  write("a/1.jpg", "");
  EXPECT_TRUE(has_class_folders(path));
}

TEST_F(ImageFolder, ReadsImagesWithoutLabels) {
  testing::expect_error(ErrorKind::data, {"holds no PNG"}, [&] { read_unlabelled_images(directory_.path("")); });
  write("2.png", grey_png(1, 1, 2));
  write("1.png", grey_png(1, 1, 1));
  const ImageSet set = read_unlabelled_images(directory_.path(""));
  EXPECT_TRUE(at::equal(set.images.flatten(), at::tensor({1, 2}, at::kByte)));
  EXPECT_FALSE(set.labels.defined());
  EXPECT_EQ(set.files, (std::vector<std::string>{"1.png", "2.png"}));
  const ImageSet one = read_unlabelled_images(directory_.path("2.png"));
  EXPECT_TRUE(at::equal(one.images.flatten(), at::tensor({2}, at::kByte)));
  EXPECT_EQ(one.files, (std::vector<std::string>{"2.png"}));
}

TEST_F(ImageFolder, KnowsWhetherThereAreLooseImages) {
  write("a/1.png", grey_png(1, 1, 1));
  EXPECT_FALSE(has_loose_images(directory_.path("")));
  EXPECT_TRUE(has_loose_images(directory_.path("a")));
  EXPECT_TRUE(has_loose_images(directory_.path("a/1.png")));
  EXPECT_EQ(read_class_folders(directory_.path("")).files, (std::vector<std::string>{"a/1.png"}));
}

}  // namespace
}  // namespace ockham
