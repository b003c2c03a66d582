// A table that may be larger than the memory, some rows at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ockham/data/csv.h"

namespace ockham {

/// Reads what `read_csv` reads, and refuses what it refuses, when its rows are reached; the separator and the header
/// are found from the same first rows. The memory holds the rows that are asked for, and a block of the file.
class CsvStream {
 public:
  /// Throws what is wrong with the first 1,000 rows.
  explicit CsvStream(const std::string& path, const CsvOptions& options = {});
  ~CsvStream();
  CsvStream(const CsvStream&) = delete;
  CsvStream& operator=(const CsvStream&) = delete;

  /// Of each table that comes.
  int64_t columns() const;
  /// The next rows, fewer than asked for only at the end, or absent when there are none left. The first has the
  /// messages.
  std::optional<CsvTable> next(int64_t rows);
  /// The share of the file that has been read, for progress; absent when its size is not known.
  std::optional<double> share() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ockham
