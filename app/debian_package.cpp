#include "app/debian_package.h"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "app/process.h"
#include "app/scratch_directory.h"
#include "ockham/base/error.h"
#include "ockham/base/sha256.h"
#include "ockham/data/csv_source.h"

namespace ockham::app {
namespace {

namespace fs = std::filesystem;

/// apt-get's own reason: its first line that begins with "E: ", else its last line.
std::string reason_of(const std::string& errors) {
  std::istringstream lines(errors);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("E: ", 0) == 0) return line.substr(3);
    if (!line.empty()) last = line;
  }
  return last;
}

void download(const std::string& package, const fs::path& directory) {
  const ProcessOutcome outcome =
      run_process({"env", "LC_ALL=C", "apt-get", "download", "--option", "Acquire::Retries=1", "--option",
                   "Acquire::http::Timeout=20", "--option", "Acquire::https::Timeout=20", package},
                  directory.string());
  if (outcome.exit_code == 0) return;
  if (outcome.exit_code == 127) {
    throw Error(ErrorKind::failure,
                fmt::format("the Debian package {} is not installed, and there is no apt-get to get it with; install "
                            "it, or run this on Debian or Ubuntu",
                            package));
  }
  const std::string reason = reason_of(outcome.errors);
  const bool unknown =
      reason.find("Unable to locate") != std::string::npos || reason.find("No candidate") != std::string::npos;
  throw Error(ErrorKind::failure,
              fmt::format("'apt-get download {}' failed{}{}; {}", package, reason.empty() ? "" : ": ", reason,
                          unknown ? "run 'apt-get update' as root first"
                                  : "check the connection to the network, or install the package by hand"));
}

fs::path find_download(const std::string& package, const fs::path& directory) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".deb") return entry.path();
  }
  throw Error(ErrorKind::failure, fmt::format("'apt-get download {}' left no package; try again", package));
}

void unpack(const fs::path& archive, const fs::path& directory) {
  const ProcessOutcome outcome =
      run_process({"dpkg-deb", "--extract", archive.string(), directory.string()}, directory.parent_path().string());
  if (outcome.exit_code == 0) return;
  if (outcome.exit_code == 127)
    throw Error(ErrorKind::failure, "there is no dpkg-deb to unpack a Debian package with; install dpkg");
  throw Error(ErrorKind::failure, fmt::format("dpkg-deb cannot unpack {}: {}; try again", archive.filename().string(),
                                              reason_of(outcome.errors)));
}

/// The content when the file is there and the right one, else nothing.
bool read_if_expected(const fs::path& path, const RawFile& file, std::string& content) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  content = read_source(path.string());
  return sha256(content) == file.sha256;
}

bool read_installed(const std::vector<RawFile>& files, std::vector<std::string>& contents) {
  for (size_t k = 0; k < files.size(); ++k) {
    if (!read_if_expected(files[k].path, files[k], contents[k])) return false;
  }
  return true;
}

}  // namespace

fs::path unpack_debian_package(const std::string& package, const fs::path& directory) {
  download(package, directory);
  fs::path unpacked = directory / "unpacked";
  unpack(find_download(package, directory), unpacked);
  return unpacked;
}

std::vector<std::string> read_packaged_files(const std::string& package, const std::vector<RawFile>& files) {
  std::vector<std::string> contents(files.size());
  if (read_installed(files, contents)) return contents;

  const ScratchDirectory scratch;
  const fs::path unpacked = unpack_debian_package(package, scratch.path());
  for (size_t k = 0; k < files.size(); ++k) {
    const fs::path place = unpacked / fs::path(files[k].path).relative_path();
    if (!fs::exists(place)) {
      throw Error(ErrorKind::data, fmt::format("the Debian package {} has no {}; this release of Debian has another "
                                               "version of it",
                                               package, files[k].path));
    }
    if (!read_if_expected(place, files[k], contents[k])) {
      throw Error(ErrorKind::data,
                  fmt::format("{} in the Debian package {} is not the expected file: its SHA-256 is {}, but {} was "
                              "expected; nothing was written",
                              files[k].path, package, sha256(contents[k]), files[k].sha256));
    }
  }
  return contents;
}

}  // namespace ockham::app
