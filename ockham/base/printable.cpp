#include "ockham/base/printable.h"

namespace ockham {

std::string printable(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, as UTF-8 has them.
    const bool wide = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    shown += byte < 0x20 || byte == 0x7f || wide ? '?' : text[i];
    i += wide;
  }
  return shown;
}

}  // namespace ockham
