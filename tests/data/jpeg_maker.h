// JPEG files made by libjpeg.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
// libjpeg's header needs stdio's FILE before it.
#include <jpeglib.h>

namespace ockham::testing {

enum class JpegColour { grey, colour, inks };

/// `values` are [height, width, channels], or one pixel for all.
inline std::string make_jpeg(int height, int width, JpegColour colour, const std::vector<int>& values) {
  const int channels = colour == JpegColour::grey ? 1 : colour == JpegColour::colour ? 3 : 4;
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* packed = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&jpeg, &packed, &size);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.input_components = channels;
  jpeg.in_color_space = colour == JpegColour::grey ? JCS_GRAYSCALE : colour == JpegColour::colour ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<unsigned char> row(static_cast<size_t>(width * channels));
  while (jpeg.next_scanline < jpeg.image_height) {
    for (size_t k = 0; k < row.size(); ++k)
      row[k] = static_cast<unsigned char>(values[(jpeg.next_scanline * row.size() + k) % values.size()]);
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&jpeg, &pointer, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string bytes(reinterpret_cast<char*>(packed), size);
  jpeg_destroy_compress(&jpeg);
  std::free(packed);
  return bytes;
}

}  // namespace ockham::testing
