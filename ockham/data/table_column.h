// Private to data/: one column of a table, looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/data/csv.h"

namespace ockham {

struct ColumnContents {
  int64_t numbers = 0;
  int64_t texts = 0;
  int64_t missing = 0;
  int64_t first_text = -1;  // rows; -1 when there is none
  int64_t first_missing = -1;
  std::vector<double> values;  // [rows], NaN where there is no number
  bool near_numbers = false;   // every text is a number to a reader, see near_number.h; there is at least one
  bool dates = false;          // every text is a date or a time; there is at least one
};

ColumnContents look_at(const CsvTable& table, int64_t column);

/// Distinct fields, sorted; missing ones are left out.
std::vector<std::string> distinct_fields(const CsvTable& table, int64_t column);

/// Shortest text of a number: 1 for 1.0.
std::string number_name(double value);

/// The mean and the sd (divided by N) of the values that are not NaN; throws Error(data) when a value is infinite, or
/// so large that its square is.
struct Moments {
  double mean = 0;
  double sd = 0;
  bool constant = false;  // all equal, or equal up to rounding
};
Moments measure(const CsvTable& table, int64_t column, const std::vector<double>& values);

/// Throws Error(data) when text stands among numbers: where, what came, what to do; `alternative` follows "or use".
void refuse_text(const CsvTable& table, int64_t column, const ColumnContents& contents, const std::string& alternative);

}  // namespace ockham
