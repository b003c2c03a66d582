// Tables as they lie in packages, without names or with class numbers, made tidy.
#pragma once

#include <string>
#include <vector>

#include "ockham/data/csv.h"

namespace ockham::app {

/// A file by its path on a Debian machine and the SHA-256 of its content, unpacked if it is gzip.
struct RawFile {
  std::string path;
  std::string sha256;
};

struct RawLayout {
  char separator = ',';
  int skipped_lines = 0;             // before the header or the first row
  std::vector<std::string> names;    // of all columns, the target last; empty: the file has a header
  std::vector<std::string> classes;  // names for the target's 0, 1, ...; empty: the target stays as it is
};

/// One table of the contents side by side. Numbers get their shortest spelling. Throws Error(data) when a content is
/// not of that layout.
CsvTable tidy_table(const std::string& name, const std::vector<std::string>& contents, const RawLayout& layout);

}  // namespace ockham::app
