// Private to data/: does a table begin with the names of its columns, and which?
#pragma once

#include "ockham/data/csv.h"

namespace ockham {

/// For a table whose rows still include the header, if there is one; looks at the first 1,000 rows.
bool detect_header(const CsvTable& table);

/// Throws Error(data) naming the column when a name is empty or comes twice; `line` is the header's.
void check_names(const CsvTable& table, int64_t line);

}  // namespace ockham
