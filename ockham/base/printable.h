// Text from files in messages.
#pragma once

#include <string>
#include <string_view>

namespace ockham {

/// Fit for one line on a terminal: control characters, which could move the cursor, colour or rename the window, become
/// '?'.
std::string printable(std::string_view text);

}  // namespace ockham
