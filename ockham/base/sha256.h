// SHA-256, by which a file is known to be the one that was meant (FIPS 180-4). Knows no libtorch.
#pragma once

#include <string>
#include <string_view>

namespace ockham {

/// 64 hexadecimal digits, as sha256sum prints them.
std::string sha256(std::string_view bytes);

}  // namespace ockham
