// The data sets that `ockham data` knows: a list, to which a new one is added as a line.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "app/image_sources.h"
#include "app/raw_table.h"
#include "ockham/data/csv.h"

namespace ockham::app {

/// Drawn from a seed; 0 rows are the generator's own number.
struct MadeTable {
  CsvTable (*make)(uint64_t seed, int64_t rows);
};

/// Files of a Debian package, the installed one or a download, and how to read them as one table.
struct PackagedTable {
  std::string package;
  std::vector<RawFile> files;
  RawLayout layout;
};

struct DataSet {
  std::string name;
  std::string description;
  int64_t rows = 0;  // of images: those for training
  int64_t inputs = 0;
  std::string target;
  int64_t classes = 0;  // 0: a regression
  std::variant<MadeTable, PackagedTable, ImageFiles> source;

  const ImageFiles* images() const { return std::get_if<ImageFiles>(&source); }  // nothing for a table
};

const std::vector<DataSet>& data_sets();

/// Throws Error(usage) with the nearest name.
const DataSet& find_data_set(const std::string& name);

/// "made from --seed", "Debian package python3-sklearn or www.x".
std::string describe_source(const DataSet& data_set);

}  // namespace ockham::app
