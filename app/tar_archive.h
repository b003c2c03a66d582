// Unpacking tar archives.
#pragma once

#include <filesystem>

namespace ockham::app {

/// Unpacks a .tar.gz with tar into `directory`, which is made; returns `directory`. Throws Error(failure).
std::filesystem::path unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& directory);

}  // namespace ockham::app
