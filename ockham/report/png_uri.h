// Small pictures inside a page: PNG as a data: URI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ockham {

/// Grey (1) or red, green, blue (3) bytes for each pixel, row by row from the top: [height][width][channels]. Throws
/// Error(usage) when the number of bytes is another.
std::string make_png_uri(int64_t width, int64_t height, int64_t channels, const std::vector<uint8_t>& pixels);

}  // namespace ockham
