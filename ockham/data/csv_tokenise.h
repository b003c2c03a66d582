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

/// Where a text that comes in pieces goes on. Each piece ends where a record does.
struct CsvPosition {
  int64_t line = 1;
  int64_t records = 0;
  int64_t width = 0;       // of the first record, with which all must agree
  int64_t first_line = 0;  // of the first record
  bool first_is_comment = false;
};

/// One pass; doubled quotes are made single within `text`.
CsvFields tokenise(const std::string& path, std::string& text, const CsvOptions& options);
CsvFields tokenise(const std::string& path, std::string& text, const CsvOptions& options, CsvPosition& position);

}  // namespace ockham
