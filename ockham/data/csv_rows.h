// Some of the rows of a table, and a random division of them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ockham/data/csv.h"

namespace ockham {

/// The given rows, in the given order; they keep the lines of the file in messages.
CsvTable take_rows(const CsvTable& table, const std::vector<int64_t>& rows);

/// Rows 0 .. N-1 divided at random (by the seed): {training, test}, each in the order of the table, with
/// round(fraction · N) test rows, at least one. Throws Error(usage) when no training row would be left.
std::pair<std::vector<int64_t>, std::vector<int64_t>> divide_rows(int64_t rows, double fraction, uint64_t seed);

}  // namespace ockham
