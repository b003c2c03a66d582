#include "ockham/data/png.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"

namespace ockham {
namespace {

constexpr int64_t ordinary_bytes = 1 << 26;  // below this the budget, which costs a look at the system, is not asked
constexpr int64_t best_packing = 1032;       // deflate packs no better than this many to 1

/// What libpng's callbacks see. Everything that has a destructor lives here, outside the frames that longjmp leaves.
struct Decoding {
  const std::string& bytes;
  size_t consumed = 0;
  char reason[200] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;
  int64_t stored_row_bytes = 0;                 // as they lie in the file, unpacked
  int64_t width = 0, height = 0, channels = 0;  // as rows come out: 1 grey, 2 with alpha, 3 colour, 4 with alpha
  std::vector<unsigned char> pixels;            // [height, width, channels]
  std::vector<png_bytep> rows;

  explicit Decoding(const std::string& content) : bytes(content) {}
  ~Decoding() { png_destroy_read_struct(&png, &info, nullptr); }
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* decoding = static_cast<Decoding*>(png_get_error_ptr(png));
  std::strncpy(decoding->reason, message, sizeof decoding->reason - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}  // libpng warns of odd metadata, which is no concern of the pixels

void give_bytes(png_structp png, png_bytep target, size_t count) {
  auto* decoding = static_cast<Decoding*>(png_get_io_ptr(png));
  if (count > decoding->bytes.size() - decoding->consumed) png_error(png, "the file ends too early");
  std::memcpy(target, decoding->bytes.data() + decoding->consumed, count);
  decoding->consumed += count;
}

/// Each step runs under its own setjmp, in a frame without destructors.
bool read_header(Decoding& decoding) {
  if (setjmp(png_jmpbuf(decoding.png)) != 0) return false;
  png_set_read_fn(decoding.png, &decoding, give_bytes);
  // Texts, profiles and other companions of the pixels are skipped: packed ones could unfold for long.
  png_set_keep_unknown_chunks(decoding.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(decoding.png, decoding.info);
  decoding.stored_row_bytes = static_cast<int64_t>(png_get_rowbytes(decoding.png, decoding.info));
  png_set_expand(decoding.png);  // palettes, fewer than 8 bits, transparent colours
  png_set_scale_16(decoding.png);
  png_set_interlace_handling(decoding.png);
  png_read_update_info(decoding.png, decoding.info);
  decoding.width = png_get_image_width(decoding.png, decoding.info);
  decoding.height = png_get_image_height(decoding.png, decoding.info);
  decoding.channels = png_get_channels(decoding.png, decoding.info);
  return true;
}

bool read_pixels(Decoding& decoding) {
  if (setjmp(png_jmpbuf(decoding.png)) != 0) return false;
  png_read_image(decoding.png, decoding.rows.data());
  png_read_end(decoding.png, nullptr);
  return true;
}

unsigned char over_white(unsigned value, unsigned alpha) {
  return static_cast<unsigned char>((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

at::Tensor to_planes(const Decoding& decoding) {
  const int64_t colours = decoding.channels <= 2 ? 1 : 3, pixels = decoding.height * decoding.width;
  const bool has_alpha = decoding.channels != colours;
  at::Tensor planes = at::empty({colours, decoding.height, decoding.width}, at::kByte);
  auto* target = planes.data_ptr<uint8_t>();
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    const unsigned char* values = decoding.pixels.data() + pixel * decoding.channels;
    for (int64_t colour = 0; colour < colours; ++colour)
      target[colour * pixels + pixel] = has_alpha ? over_white(values[colour], values[colours]) : values[colour];
  }
  return planes;
}

}  // namespace

at::Tensor decode_png(const std::string& name, const std::string& bytes) {
  const auto refuse = [&name](const std::string& why) {
    throw Error(ErrorKind::data, fmt::format("{}: is not a readable PNG image: {}", name, why));
  };
  Decoding decoding(bytes);
  decoding.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoding, on_error, on_warning);
  decoding.info = decoding.png == nullptr ? nullptr : png_create_info_struct(decoding.png);
  if (decoding.info == nullptr) throw Error(ErrorKind::failure, "libpng cannot be started");
  if (!read_header(decoding)) refuse(decoding.reason);
  const int64_t row_bytes = decoding.width * decoding.channels;
  const int64_t total_bytes = decoding.height * row_bytes;  // both sizes are below 2^31
  if (decoding.height * decoding.stored_row_bytes > static_cast<int64_t>(bytes.size()) * best_packing)
    refuse(fmt::format("its header promises {} x {} pixels, more than a file of {} bytes can hold", decoding.height,
                       decoding.width, bytes.size()));
  if (total_bytes > ordinary_bytes && total_bytes > default_memory_budget() / 2)
    refuse(fmt::format("{} x {} pixels do not fit the memory", decoding.height, decoding.width));
  decoding.pixels.resize(static_cast<size_t>(total_bytes));
  for (int64_t row = 0; row < decoding.height; ++row) decoding.rows.push_back(decoding.pixels.data() + row * row_bytes);
  if (!read_pixels(decoding)) refuse(decoding.reason);
  return to_planes(decoding);
}

}  // namespace ockham
