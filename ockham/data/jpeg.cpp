#include "ockham/data/jpeg.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
#include <vector>
// libjpeg's headers need stdio's FILE before them.
#include <jerror.h>
#include <jpeglib.h>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"

namespace ockham {
namespace {

constexpr int64_t ordinary_bytes = 1 << 26;  // below this the budget, which costs a look at the system, is not asked
/// One bit for a block of 64 values is the least that Huffman codes need; with colours at a quarter of the height and
/// width this becomes at most 1,725 bytes for one.
constexpr int64_t best_packing = 2048;
constexpr int most_scans = 200;  // files in use have about ten; each one goes over the whole image

/// What libjpeg's callbacks see. Everything that has a destructor lives here, outside the frames that longjmp leaves.
struct Decoding {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back;
  char reason[JMSG_LENGTH_MAX] = "";
  std::vector<unsigned char> pixels;  // [height, width, components]

  ~Decoding() { jpeg_destroy_decompress(&jpeg); }
  Decoding() = default;
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;
};

Decoding& decoding_of(j_common_ptr jpeg) { return *static_cast<Decoding*>(jpeg->client_data); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  jpeg->err->format_message(jpeg, decoding_of(jpeg).reason);
  std::longjmp(decoding_of(jpeg).back, 1);
}

/// Warnings (level -1) tell of lost pixels, apart from a few about metadata and padding.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  const int code = jpeg->err->msg_code;
  if (code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR) return;
  on_error(jpeg);
}

void count_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most_scans) return;
  std::snprintf(decoding_of(jpeg).reason, JMSG_LENGTH_MAX, "it has more than %d scans", most_scans);
  std::longjmp(decoding_of(jpeg).back, 1);
}

bool read_header(Decoding& decoding, const std::string& bytes) {
  if (setjmp(decoding.back) != 0) return false;
  jpeg_create_decompress(&decoding.jpeg);
  decoding.jpeg.progress = &decoding.progress;
  jpeg_mem_src(&decoding.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&decoding.jpeg, TRUE);
  const J_COLOR_SPACE stored = decoding.jpeg.jpeg_color_space;
  decoding.jpeg.out_color_space = stored == JCS_GRAYSCALE                    ? JCS_GRAYSCALE
                                  : stored == JCS_CMYK || stored == JCS_YCCK ? JCS_CMYK
                                                                             : JCS_RGB;
  decoding.jpeg.dct_method = JDCT_ISLOW;
  jpeg_calc_output_dimensions(&decoding.jpeg);
  return true;
}

bool read_pixels(Decoding& decoding) {
  if (setjmp(decoding.back) != 0) return false;
  jpeg_start_decompress(&decoding.jpeg);
  const size_t row_bytes = static_cast<size_t>(decoding.jpeg.output_width) * decoding.jpeg.output_components;
  while (decoding.jpeg.output_scanline < decoding.jpeg.output_height) {
    JSAMPROW row = decoding.pixels.data() + decoding.jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&decoding.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&decoding.jpeg);
  return true;
}

/// Four inks to three lights; Adobe's programs store inks inverted, and say that it is they.
unsigned char light(unsigned ink, unsigned black, bool inverted) {
  return static_cast<unsigned char>((inverted ? ink * black : (255 - ink) * (255 - black)) / 255);
}

at::Tensor to_planes(const Decoding& decoding) {
  const int64_t height = decoding.jpeg.output_height, width = decoding.jpeg.output_width, pixels = height * width;
  const int64_t components = decoding.jpeg.output_components, colours = components == 1 ? 1 : 3;
  const bool inverted = decoding.jpeg.saw_Adobe_marker != 0;
  at::Tensor planes = at::empty({colours, height, width}, at::kByte);
  auto* target = planes.data_ptr<uint8_t>();
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    const unsigned char* values = decoding.pixels.data() + pixel * components;
    for (int64_t colour = 0; colour < colours; ++colour)
      target[colour * pixels + pixel] = components == 4 ? light(values[colour], values[3], inverted) : values[colour];
  }
  return planes;
}

}  // namespace

at::Tensor decode_jpeg(const std::string& name, const std::string& bytes) {
  const auto refuse = [&name](const std::string& why) {
    throw Error(ErrorKind::data, fmt::format("{}: is not a readable JPEG image: {}", name, why));
  };
  if (bytes.empty()) refuse("the file is empty");
  Decoding decoding;
  decoding.jpeg.err = jpeg_std_error(&decoding.errors);
  decoding.jpeg.client_data = &decoding;
  decoding.errors.error_exit = on_error;
  decoding.errors.emit_message = on_message;
  decoding.progress.progress_monitor = count_scans;
  if (!read_header(decoding, bytes)) refuse(decoding.reason);
  const int64_t height = decoding.jpeg.output_height;
  const int64_t total_bytes = height * decoding.jpeg.output_width * decoding.jpeg.output_components;
  if (total_bytes > static_cast<int64_t>(bytes.size()) * best_packing)
    refuse(fmt::format("its header promises {} x {} pixels, more than a file of {} bytes can hold", height,
                       decoding.jpeg.output_width, bytes.size()));
  if (total_bytes > ordinary_bytes && total_bytes > default_memory_budget() / 2)
    refuse(fmt::format("{} x {} pixels do not fit the memory", height, decoding.jpeg.output_width));
  decoding.pixels.resize(static_cast<size_t>(total_bytes));
  if (!read_pixels(decoding)) refuse(decoding.reason);
  return to_planes(decoding);
}

}  // namespace ockham
