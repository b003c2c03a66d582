#include "ockham/data/image_set.h"

#include "ockham/base/random.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

ImageSet random_set() {
  ImageSet set{"made",
               at::randint(0, 256, {7, 3, 4, 5}, random_stream({1}), at::kLong).to(at::kByte),
               at::arange(7, at::kLong),
               {"a", "b", "c", "d", "e", "f", "g"}};
  set.images.select(1, 2).fill_(9);
  return set;
}

TEST(ImageSet, TakesRowsInTheirOrder) {
  const ImageSet set = random_set();
  const at::Tensor rows = at::tensor({5, 0, 5}, at::kLong);
  const ImageSet taken = take_images(set, rows);
  EXPECT_TRUE(at::equal(taken.labels, rows));
  EXPECT_TRUE(at::equal(taken.images[0], set.images[5]));
  EXPECT_TRUE(at::equal(taken.images[1], set.images[0]));
  EXPECT_EQ(taken.classes, set.classes);
  ImageSet unlabelled = set;
  unlabelled.labels = at::Tensor();
  EXPECT_FALSE(take_images(unlabelled, rows).labels.defined());
}

TEST(ImageSet, LearnsMeanAndSdOfEachChannel) {
  const ImageSet set = random_set();
  const ImageScaling scaling = learn_scaling(set);
  ASSERT_EQ(scaling.mean.size(), 3u);
  for (int64_t channel = 0; channel < 2; ++channel) {
    const at::Tensor values = set.images.select(1, channel).to(at::kDouble) / 255;
    EXPECT_NEAR(scaling.mean[channel], values.mean().item<double>(), 1e-12);
    EXPECT_NEAR(scaling.sd[channel], values.std(false).item<double>(), 1e-12);
  }
  EXPECT_NEAR(scaling.mean[2], 9.0 / 255, 1e-12);
  EXPECT_EQ(scaling.sd[2], 1) << "a channel that does not vary";
  ImageSet strided = set;
  strided.images = set.images.transpose(2, 3);
  EXPECT_EQ(learn_scaling(strided).sd, scaling.sd);
  testing::expect_error(ErrorKind::data, {"no images"}, [] {
    learn_scaling({"x", at::empty({0, 1, 2, 2}, at::kByte), {}, {}});
  });
}

TEST(ImageSet, DrawsWithoutChangingTheOrder) {
  ImageSet set = random_set();
  set.images = at::arange(set.size(), at::kByte).reshape({-1, 1, 1, 1});
  const ImageSet drawn = draw_images(set, 3, random_stream({5}));
  ASSERT_EQ(drawn.size(), 3);
  const at::Tensor rows = drawn.images.flatten().to(at::kLong);
  EXPECT_TRUE(at::all(rows.diff() > 0).item<bool>());
  EXPECT_TRUE(at::equal(drawn.labels, set.labels.index_select(0, rows)));
  EXPECT_TRUE(at::equal(draw_images(set, 3, random_stream({5})).images, drawn.images));
}

}  // namespace
}  // namespace ockham
