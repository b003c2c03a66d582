#include "ockham/report/png_uri.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/data/png.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

/// The bytes that a base64 text stands for, by another way than the encoder's: six bits after six bits.
std::string decode(const std::string& text) {
  std::string bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    const uint32_t value = letter >= 'a'   ? letter - 'a' + 26
                           : letter >= 'A' ? letter - 'A'
                           : letter >= '0' ? letter - '0' + 52
                           : letter == '+' ? 62
                                           : 63;
    bits = bits << 6 | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

TEST(PngUri, ComesBackPixelByPixel) {
  const std::string start = "data:image/png;base64,";
  for (const int64_t channels : {1, 3}) {
    for (const int64_t width : {1, 2, 7, 28}) {
      std::vector<uint8_t> pixels;
      for (int64_t i = 0; i < width * 5 * channels; ++i) pixels.push_back(static_cast<uint8_t>(i * 37 + 11));
      const std::string uri = make_png_uri(width, 5, channels, pixels);
      ASSERT_EQ(uri.rfind(start, 0), 0u);
      EXPECT_EQ((uri.size() - start.size()) % 4, 0u);
      const at::Tensor image = decode_png("picture", decode(uri.substr(start.size())));
      ASSERT_EQ(image.sizes(), (at::IntArrayRef{channels, 5, width}));
      const at::Tensor expected =
          at::from_blob(pixels.data(), {5, width, channels}, at::TensorOptions().dtype(at::kByte)).permute({2, 0, 1});
      EXPECT_TRUE(image.equal(expected));
    }
  }
}

TEST(PngUri, RefusesAWrongNumberOfBytes) {
  testing::expect_error(ErrorKind::usage, {"2 x 2", "3 bytes"}, [] { make_png_uri(2, 2, 1, {1, 2, 3}); });
}

}  // namespace
}  // namespace ockham
