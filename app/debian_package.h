// Files out of Debian packages, without root and without installing anything.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/raw_table.h"

namespace ockham::app {

/// The contents of the files, unpacked if gzip, each with the expected SHA-256: the installed ones when they are
/// those, else from the package by `apt-get download` and `dpkg-deb` in a temporary directory. Throws Error(failure)
/// when the package cannot be had, Error(data) when a file is missing in it or is another one.
std::vector<std::string> read_packaged_files(const std::string& package, const std::vector<RawFile>& files);

/// Downloads the package into `directory` and unpacks it there; where its root is. Throws Error(failure).
std::filesystem::path unpack_debian_package(const std::string& package, const std::filesystem::path& directory);

}  // namespace ockham::app
