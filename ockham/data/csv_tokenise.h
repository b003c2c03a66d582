// Private to data/: text to fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/data/csv.h"

namespace ockham {

struct CsvFields {
  std::vector<uint64_t> places;  // [records * width], as in CsvTable
  std::vector<int64_t> lines;    // [records], where each begins
  int64_t width = 0;
};

/// The separator that cuts the first lines into equally many fields, more than one: tab before ';' before ','.
char detect_separator(const std::string& text);

/// One pass; doubled quotes are made single within `text`.
CsvFields tokenise(const std::string& path, std::string& text, const CsvOptions& options);

}  // namespace ockham
