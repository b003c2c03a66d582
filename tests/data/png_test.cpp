#include "ockham/data/png.h"

#include <string>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/image_makers.h"

namespace ockham {
namespace {

using testing::colour_png;
using testing::counted_bytes;
using testing::make_png;
using testing::PngColour;

void expect_pixels(const std::string& png, const std::vector<int64_t>& shape, const std::vector<int64_t>& values) {
  const at::Tensor image = decode_png("x.png", png);
  EXPECT_EQ(image.scalar_type(), at::kByte);
  EXPECT_EQ(image.sizes().vec(), shape);
  EXPECT_TRUE(at::equal(image.flatten().to(at::kLong), at::tensor(values, at::kLong))) << image;
}

TEST(Png, ReadsGreyAndColourExactly) {
  expect_pixels(testing::grey_png(2, 3, 100), {1, 2, 3}, {100, 101, 102, 103, 104, 105});
  expect_pixels(colour_png(1, 2, 10), {3, 1, 2}, {10, 13, 11, 14, 12, 15});
}

TEST(Png, RoundsSixteenBitsToEight) {
  expect_pixels(make_png({1, 3, PngColour::grey, 16, {"\xff\xff\x00\x00\x80\x80", 6}, "", ""}), {1, 1, 3},
                {255, 0, 128});
}

TEST(Png, SpreadsFewerBits) {
  expect_pixels(make_png({1, 8, PngColour::grey, 1, "\x55", "", ""}), {1, 1, 8}, {0, 255, 0, 255, 0, 255, 0, 255});
  expect_pixels(make_png({1, 2, PngColour::grey, 4, "\x3f", "", ""}), {1, 1, 2}, {51, 255});
}

TEST(Png, LooksUpPalettes) {
  expect_pixels(make_png({1, 2, PngColour::palette, 8, {"\x01\x00", 2}, "\x01\x02\x03\x0a\x0b\x0c", ""}), {3, 1, 2},
                {10, 1, 11, 2, 12, 3});
}

TEST(Png, LaysTransparencyOverWhite) {
  expect_pixels(make_png({1, 3, PngColour::grey_alpha, 8, {"\x64\xff\x64\x00\x00\x80", 6}, "", ""}), {1, 1, 3},
                {100, 255, 127});
  expect_pixels(make_png({1, 1, PngColour::colour_alpha, 8, {"\x0a\x14\x1e\xff", 4}, "", ""}), {3, 1, 1}, {10, 20, 30});
  expect_pixels(make_png({1, 2, PngColour::palette, 8, {"\x01\x00", 2}, "\x01\x02\x03\x0a\x0b\x0c", {"\x00", 1}}),
                {3, 1, 2}, {10, 255, 11, 255, 12, 255});
}

TEST(Png, RefusesDamage) {
  const std::string good = colour_png(20, 20, 3);
  const auto expect_refusal = [](const std::string& bytes, std::vector<std::string> mentioned) {
    mentioned.insert(mentioned.end(), {"class/x.png", "not a readable PNG"});
    testing::expect_error(ErrorKind::data, mentioned, [&] { decode_png("class/x.png", bytes); });
  };
  expect_refusal("", {"ends too early"});
  expect_refusal("rubbish and more", {});
  for (const size_t length : {10, 30, 50, 100}) expect_refusal(good.substr(0, length), {"ends too early"});
  std::string torn = good;
  torn[good.size() / 2] ^= 0x11;
  expect_refusal(torn, {"IDAT"});
  std::string header = good;
  header[19] ^= 0x40;  // its width
  expect_refusal(header, {"CRC"});
}

TEST(Png, RefusesSizesThatDoNotFit) {
  std::string png = colour_png(1, 1, 3);
  const std::string kind = {8, 2, 0, 0, 0};
  png.replace(8, 25, testing::png_chunk("IHDR", testing::big_endian(1'000'000) + testing::big_endian(900'000) + kind));
  testing::expect_error(ErrorKind::data, {"x.png", "1000000", "more than a file of"},
                        [&] { decode_png("x.png", png); });
  // One bit for a pixel, which becomes three bytes.
  const std::string bits = {1, 3, 0, 0, 0};
  png.replace(8, 25, testing::png_chunk("IHDR", testing::big_endian(900'000) + testing::big_endian(900'000) + bits));
  png.insert(33, testing::png_chunk("PLTE", "abcdef"));
  testing::expect_error(ErrorKind::data, {"x.png", "more than a file of"}, [&] { decode_png("x.png", png); });
}

TEST(Png, SkipsTextsThatUnfoldForLong) {
  std::string packed(200, '\0');
  uLongf size = packed.size();
  const std::string text(100'000, 'a');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size());
  packed.resize(size);
  std::string png = colour_png(2, 2, 3);
  for (int k = 0; k < 2000; ++k) png.insert(33, testing::png_chunk("zTXt", std::string("note\0\0", 6) + packed));
  EXPECT_EQ(decode_png("x.png", png).size(0), 3);
}

}  // namespace
}  // namespace ockham
