#include "ockham/data/augment.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using Change = std::tuple<int64_t, int64_t, bool>;

at::Tensor random_images(std::vector<int64_t> shape, at::ScalarType type) {
  return at::randint(1, 256, shape, random_stream({5}), at::kLong).to(type);
}

/// How `result` was made of `image`, by trying every crop of the padded one and its mirror; fails when by none.
Change find_change(const at::Tensor& image, const at::Tensor& result, int64_t padding) {
  const int64_t height = image.size(1), width = image.size(2);
  at::Tensor padded = at::zeros({image.size(0), height + 2 * padding, width + 2 * padding}, image.options());
  padded.narrow(1, padding, height).narrow(2, padding, width).copy_(image);
  for (int64_t down = 0; down <= 2 * padding; ++down) {
    for (int64_t right = 0; right <= 2 * padding; ++right) {
      const at::Tensor crop = padded.narrow(1, down, height).narrow(2, right, width);
      if (at::equal(crop, result)) return {down, right, false};
      if (at::equal(crop.flip({2}), result)) return {down, right, true};
    }
  }
  ADD_FAILURE() << "this is no crop of the padded image";
  return {};
}

TEST(Augment, GivesTrueCropsAndMirrorsEachWithItsOwnDraw) {
  for (const at::ScalarType type : {at::kByte, at::kFloat, at::kDouble, at::kHalf}) {
    const at::Tensor images = random_images({40, 3, 6, 5}, type);
    const at::Tensor before = images.clone();
    const at::Tensor result = augment(images, {2, true}, random_stream({7}));
    EXPECT_EQ(result.sizes(), images.sizes());
    EXPECT_EQ(result.scalar_type(), type);
    std::set<Change> seen;
    for (int64_t k = 0; k < images.size(0); ++k) seen.insert(find_change(images[k], result[k], 2));
    EXPECT_GT(seen.size(), 20u) << "of 50 possible ones";
    EXPECT_TRUE(at::equal(images, before)) << "the images themselves stay";
  }
}

TEST(Augment, DrawsEveryChangeEquallyOften) {
  const int64_t count = 18000;
  const at::Tensor images = random_images({1, 1, 3, 4}, at::kByte).expand({count, 1, 3, 4});
  const at::Tensor result = augment(images, {1, true}, random_stream({1}));
  std::map<Change, int64_t> counts;
  for (int64_t k = 0; k < count; ++k) ++counts[find_change(images[k], result[k], 1)];
  EXPECT_EQ(counts.size(), 18u);
  for (const auto& [change, times] : counts) EXPECT_NEAR(times, 1000, 150);  // 5 standard deviations
}

TEST(Augment, FlipsOnly) {
  const at::Tensor images = random_images({30, 2, 4, 7}, at::kByte);
  const at::Tensor result = augment(images, {0, true}, random_stream({2}));
  int64_t flips = 0;
  for (int64_t k = 0; k < 30; ++k) {
    const bool flipped = at::equal(result[k], images[k].flip({2}));
    EXPECT_TRUE(flipped || at::equal(result[k], images[k]));
    flips += flipped ? 1 : 0;
  }
  EXPECT_GT(flips, 5);
  EXPECT_LT(flips, 25);
}

TEST(Augment, CropsOnly) {
  const at::Tensor images = random_images({30, 1, 4, 4}, at::kByte);
  const at::Tensor result = augment(images, {1, false}, random_stream({2}));
  for (int64_t k = 0; k < 30; ++k) EXPECT_FALSE(std::get<2>(find_change(images[k], result[k], 1)));
}

TEST(Augment, CropsWiderThanTheImage) {
  const at::Tensor images = random_images({50, 1, 2, 2}, at::kFloat);
  const at::Tensor result = augment(images, {5, true}, random_stream({3}));
  for (int64_t k = 0; k < 50; ++k) find_change(images[k], result[k], 5);
}

TEST(Augment, ChangesNothingWithoutOptions) {
  EXPECT_FALSE(AugmentOptions{}.any());
  const at::Tensor images = random_images({3, 1, 4, 4}, at::kByte);
  EXPECT_TRUE(at::equal(augment(images, {}, random_stream({1})), images));
}

TEST(Augment, DependsOnTheStreamAlone) {
  const at::Tensor images = random_images({20, 3, 8, 8}, at::kByte);
  const at::Tensor once = augment(images, {4, true}, random_stream({9}));
  EXPECT_TRUE(at::equal(once, augment(images, {4, true}, random_stream({9}))));
  EXPECT_FALSE(at::equal(once, augment(images, {4, true}, random_stream({10}))));
  EXPECT_TRUE(at::equal(once.to(at::kFloat), augment(images.to(at::kFloat), {4, true}, random_stream({9}))));
  const at::Tensor strided = images.transpose(2, 3).contiguous().transpose(2, 3);
  EXPECT_TRUE(at::equal(once, augment(strided, {4, true}, random_stream({9}))));
  at::Generator stream = random_stream({9});
  augment(images, {4, true}, stream);
  EXPECT_FALSE(at::equal(once, augment(images, {4, true}, stream))) << "the stream goes on";
}

TEST(Augment, TakesWellBelowAMillisecondABatch) {
  const at::Tensor images = random_images({128, 3, 32, 32}, at::kByte);
  at::Generator stream = random_stream({9});
  double best = 1;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    augment(images, {4, true}, stream);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  RecordProperty("microseconds", static_cast<int>(best * 1e6));
  EXPECT_LT(best, 2e-3);  // 0.2 ms where it was written; slow machines may take longer
}

TEST(Augment, RefusesWhatAreNoImages) {
  testing::expect_error(ErrorKind::usage, {"2 dimensions"}, [] {
    augment(at::zeros({3, 4}), {1, true}, random_stream({1}));
  });
  testing::expect_error(ErrorKind::usage, {"negative", "-1"}, [] {
    augment(at::zeros({1, 1, 2, 2}), {-1, true}, random_stream({1}));
  });
}

}  // namespace
}  // namespace ockham
