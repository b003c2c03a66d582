// The rows of the table that `ockham predict` reads: a CSV file, or arrays as a table.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/predict_flags.h"
#include "ockham/data/csv.h"
#include "ockham/data/table_encoding.h"

namespace ockham::app {

class PredictSource {
 public:
  virtual ~PredictSource() = default;
  /// For messages.
  virtual std::string name() const = 0;
  /// The next part: a multiple of `predict_part` rows, or all that are left; absent at the end. Throws Error(data)
  /// naming file, line and column.
  virtual std::optional<CsvTable> next() = 0;
  /// The share that has been read; absent when the size is not known.
  virtual std::optional<double> share() const = 0;
};

std::unique_ptr<PredictSource> open_predict_source(const PredictFlags& flags, const TableEncoding& encoding);

/// The rows in which every target has a value.
std::vector<int64_t> rows_with_targets(const TableEncoding& encoding, const CsvTable& table);

}  // namespace ockham::app
