// The UCI tables of a data directory, and their splits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "ockham/data/csv.h"
#include "ockham/data/dataset.h"
#include "ockham/data/table_encoding.h"

namespace ockham::paper {

/// Rows of a table, from 0; validation is empty when a split has none.
struct RowSplit {
  std::vector<int64_t> training, validation, test;
};

struct UciTable {
  std::string name;                       // of the file: "wine-quality-red"
  std::shared_ptr<const CsvTable> table;  // the target is the last column
  std::vector<RowSplit> splits;           // of splits/NAME.json; empty without that file
  std::string digest;                     // of both files, so that a kept result knows its data

  int64_t rows() const { return table->rows(); }
  int64_t features() const { return table->columns() - 1; }
};

/// Those of `names` that are in `directory` or `directory`/uci as NAME.csv, with splits/NAME.json beside them: a list
/// of {"train": [rows], "test": [rows]}. Throws Error(data) when none is there or a splits file does not fit its table.
std::vector<UciTable> read_uci_tables(const std::string& directory, const std::vector<std::string>& names);

/// Split `index`: of the file, or when it has fewer drawn by (seed, index) with a tenth of the rows for testing.
RowSplit regression_split(const UciTable& table, int64_t index, uint64_t seed);

/// 70 % training, 15 % validation and 15 % test rows, drawn by (seed, index).
RowSplit classification_split(const UciTable& table, int64_t index, uint64_t seed);

/// The parts of a split as tensors, scaled by the training rows.
struct EncodedSplit {
  TableEncoding encoding;
  Dataset training, test;
  std::optional<Dataset> validation;

  int64_t features() const { return training.inputs().size(1); }
  int64_t outputs() const;  // C: targets or classes
};

/// Inputs and targets in float64.
EncodedSplit encode_split(const UciTable& table, const RowSplit& split, Task task);

}  // namespace ockham::paper
