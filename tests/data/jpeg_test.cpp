#include "ockham/data/jpeg.h"

#include <string>
#include <vector>

#include "tests/data/jpeg_maker.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::JpegColour;
using testing::make_jpeg;

/// Flat areas survive the packing, to a step or two.
void expect_flat(const at::Tensor& image, const std::vector<int64_t>& shape, const std::vector<int>& colour) {
  ASSERT_EQ(image.sizes().vec(), shape);
  EXPECT_EQ(image.scalar_type(), at::kByte);
  for (size_t channel = 0; channel < colour.size(); ++channel) {
    const at::Tensor plane = image[static_cast<int64_t>(channel)].to(at::kLong);
    EXPECT_LE((plane - colour[channel]).abs().max().item<int64_t>(), 2) << "channel " << channel;
  }
}

TEST(Jpeg, ReadsGreyAndColour) {
  expect_flat(decode_jpeg("x", make_jpeg(9, 5, JpegColour::grey, {77})), {1, 9, 5}, {77});
  expect_flat(decode_jpeg("x", make_jpeg(9, 5, JpegColour::colour, {200, 100, 30})), {3, 9, 5}, {200, 100, 30});
}

TEST(Jpeg, MixesInks) {
  expect_flat(decode_jpeg("x", make_jpeg(8, 8, JpegColour::inks, {255, 128, 0, 255})), {3, 8, 8}, {255, 128, 0});
}

TEST(Jpeg, KeepsRowsAndColumns) {
  std::vector<int> steps(32 * 16, 0);
  for (size_t k = 0; k < steps.size() / 2; ++k) steps[k] = 250;  // the upper half
  const at::Tensor image = decode_jpeg("x", make_jpeg(32, 16, JpegColour::grey, steps)).to(at::kLong);
  EXPECT_GT(image[0].narrow(0, 0, 16).min().item<int64_t>(), 240);
  EXPECT_LT(image[0].narrow(0, 16, 16).max().item<int64_t>(), 10);
}

TEST(Jpeg, RefusesDamageThatLibjpegOnlyWarnsOf) {
  std::vector<int> noise;
  for (int k = 0; k < 40 * 40 * 3; ++k) noise.push_back((k * 7919) % 251);
  const std::string good = make_jpeg(40, 40, JpegColour::colour, noise);
  const auto expect_refusal = [](const std::string& bytes) {
    testing::expect_error(ErrorKind::data, {"class/x.jpg", "not a readable JPEG image: "},
                          [&] { decode_jpeg("class/x.jpg", bytes); });
  };
  EXPECT_EQ(decode_jpeg("x", good).size(0), 3);
  expect_refusal("");
  expect_refusal("rubbish");
  for (const size_t part : {1, 2, 3, 5, 7}) expect_refusal(good.substr(0, good.size() * part / 8));
  std::string torn = good;
  torn.replace(good.size() / 2, 2, "\xff\xd9");  // an end in the middle
  expect_refusal(torn);
}

TEST(Jpeg, RefusesSizesThatItsBytesCannotHold) {
  std::string jpeg = make_jpeg(8, 8, JpegColour::colour, {1, 2, 3});
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xea\x60\xea\x60");  // 60,000 high and wide
  testing::expect_error(ErrorKind::data, {"x.jpg", "60000 x 60000", "more than a file of"},
                        [&] { decode_jpeg("x.jpg", jpeg); });
}

TEST(Jpeg, RefusesScansWithoutEnd) {
  const std::string jpeg =
      testing::read_bytes(std::string(OCKHAM_SOURCE_DIR) + "/tests/fuzz/corpus/jpeg/regression-many-scans.jpg");
  testing::expect_error(ErrorKind::data, {"x.jpg", "more than 200 scans"}, [&] { decode_jpeg("x.jpg", jpeg); });
}

}  // namespace
}  // namespace ockham
