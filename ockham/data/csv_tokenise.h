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

/// One pass; doubled quotes are made single within `text`.
CsvFields tokenise(const std::string& path, std::string& text, const CsvOptions& options);

}  // namespace ockham
