#include "ockham/report/png_uri.h"

#include <fmt/format.h>
#include <zlib.h>

#include "ockham/base/error.h"

namespace ockham {
namespace {

std::string big_endian(uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

std::string chunk(const std::string& kind, const std::string& content) {
  const std::string checked = kind + content;
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<uint32_t>(content.size())) + checked + big_endian(static_cast<uint32_t>(sum));
}

std::string compressed(const std::string& content) {
  uLongf size = compressBound(content.size());
  std::string bytes(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(content.data()),
                content.size(), Z_BEST_COMPRESSION) != Z_OK)
    throw Error(ErrorKind::failure, "a picture of the report cannot be compressed; is there memory left?");
  bytes.resize(size);
  return bytes;
}

std::string base64(const std::string& bytes) {
  static const char* const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? letters[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string make_png_uri(int64_t width, int64_t height, int64_t channels, const std::vector<uint8_t>& pixels) {
  const bool known = channels == 1 || channels == 3;
  if (!known || width < 1 || height < 1 || static_cast<int64_t>(pixels.size()) != width * height * channels)
    throw Error(ErrorKind::usage, fmt::format("a picture of {} x {} pixels in {} channels does not have {} bytes",
                                              width, height, channels, pixels.size()));
  const std::string header = big_endian(static_cast<uint32_t>(width)) + big_endian(static_cast<uint32_t>(height)) +
                             '\x08' + (channels == 3 ? '\x02' : '\0') + std::string(3, '\0');
  std::string rows;
  for (int64_t row = 0; row < height; ++row) {
    rows += '\0';  // no filter
    const auto first = pixels.begin() + row * width * channels;
    rows.append(first, first + width * channels);
  }
  return "data:image/png;base64," +
         base64("\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", compressed(rows)) + chunk("IEND", ""));
}

}  // namespace ockham
