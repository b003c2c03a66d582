// Image files made byte by byte, so that the readers are tested against something else than their own libraries.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ockham::testing {

inline std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

/// Bytes first, first + step, … modulo 256.
inline std::string counted_bytes(size_t count, int first = 0, int step = 1) {
  std::string bytes(count, '\0');
  for (size_t k = 0; k < count; ++k) bytes[k] = static_cast<char>(first + step * static_cast<int>(k));
  return bytes;
}

inline std::string gzip(const std::string& text) {
  std::string packed(text.size() + text.size() / 100 + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string make_idx(const std::vector<uint32_t>& sizes, const std::string& values) {
  std::string bytes = big_endian(0x0800 + static_cast<uint32_t>(sizes.size()));
  for (const uint32_t size : sizes) bytes += big_endian(size);
  return bytes + values;
}

/// A record of one or two labels and 3072 pixels that all count up from `first`.
inline std::string make_record(const std::vector<int>& labels, int first) {
  std::string bytes;
  for (const int label : labels) bytes.push_back(static_cast<char>(label));
  return bytes + counted_bytes(3072, first);
}

enum class PngColour { grey = 0, colour = 2, palette = 3, grey_alpha = 4, colour_alpha = 6 };

struct PngParts {
  uint32_t height = 1, width = 1;
  PngColour colour = PngColour::grey;
  int bits = 8;
  std::string values;                 // the rows, as the colour type and the bits have them
  std::string palette, transparency;  // chunks PLTE and tRNS; empty: none
};

inline std::string png_chunk(const std::string& type, const std::string& content) {
  const std::string checked = type + content;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<uint32_t>(content.size())) + checked + big_endian(static_cast<uint32_t>(sum));
}

inline std::string make_png(const PngParts& parts) {
  const size_t row_bytes = parts.values.size() / parts.height;
  std::string filtered;
  for (uint32_t row = 0; row < parts.height; ++row)
    filtered += std::string(1, '\0') + parts.values.substr(row * row_bytes, row_bytes);  // filter 0: as it is
  std::string packed(compressBound(filtered.size()), '\0');
  uLongf packed_size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &packed_size, reinterpret_cast<const Bytef*>(filtered.data()),
           filtered.size());
  packed.resize(packed_size);
  const std::string kind = {static_cast<char>(parts.bits), static_cast<char>(parts.colour), 0, 0, 0};
  std::string png = "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", big_endian(parts.width) + big_endian(parts.height) + kind);
  if (!parts.palette.empty()) png += png_chunk("PLTE", parts.palette);
  if (!parts.transparency.empty()) png += png_chunk("tRNS", parts.transparency);
  return png + png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

/// A grey image whose pixels count up from `first`.
inline std::string grey_png(uint32_t height, uint32_t width, int first) {
  return make_png({height, width, PngColour::grey, 8, counted_bytes(height * width, first), "", ""});
}

inline std::string colour_png(uint32_t height, uint32_t width, int first) {
  return make_png({height, width, PngColour::colour, 8, counted_bytes(height * width * 3, first), "", ""});
}

}  // namespace ockham::testing
