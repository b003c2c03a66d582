// Text from files in messages.
#pragma once

#include <string>
#include <string_view>

namespace ockham {

/// Fit for one line on a terminal: control characters, which could move the cursor, colour or rename the window, and
/// bytes that are not UTF-8 become '?'.
std::string printable(std::string_view text);

/// Bytes of the UTF-8 character that begins a text that is not empty, or 0 when it is none (overlong, surrogate, beyond
/// U+10FFFF).
size_t utf8_length(std::string_view text);

}  // namespace ockham
