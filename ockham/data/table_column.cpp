#include "ockham/data/table_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "ockham/base/error.h"
#include "ockham/data/csv_field.h"
#include "ockham/data/near_number.h"

namespace ockham {
ColumnContents look_at(const CsvTable& table, int64_t column) {
  ColumnContents contents;
  contents.values.reserve(table.rows());
  contents.near_numbers = contents.dates = true;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view field = table.field(row, column);
    const auto number = parse_number(field);
    contents.values.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
    if (number) {
      ++contents.numbers;
    } else if (is_missing(field)) {
      if (contents.missing++ == 0) contents.first_missing = row;
    } else {
      if (contents.texts++ == 0) contents.first_text = row;
      contents.near_numbers = contents.near_numbers && !explain_near_number(field).empty();
      contents.dates = contents.dates && is_date(field);
    }
  }
  contents.near_numbers = contents.near_numbers && contents.texts > 0;
  contents.dates = contents.dates && contents.texts > 0;
  return contents;
}

std::vector<std::string> distinct_fields(const CsvTable& table, int64_t column) {
  std::unordered_set<std::string_view> seen;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view field = table.field(row, column);
    if (!is_missing(field)) seen.insert(field);
  }
  std::vector<std::string> fields(seen.begin(), seen.end());
  std::sort(fields.begin(), fields.end());
  return fields;
}

std::string number_name(double value) {
  if (value == 0) return "0";  // not "-0"
  return std::abs(value) < 1e15 && value == std::floor(value) ? fmt::format("{}", static_cast<int64_t>(value))
                                                              : fmt::format("{}", value);
}

Moments measure(const CsvTable& table, int64_t column, const std::vector<double>& values) {
  double sum = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  int64_t count = 0;
  for (size_t row = 0; row < values.size(); ++row) {
    if (std::isnan(values[row])) continue;
    if (std::abs(values[row]) > 1e150) {
      throw Error(ErrorKind::data, fmt::format("{}: {} is too large; numbers must be within 1e150",
                                               table.place_name(row, column), quote_field(table.field(row, column))));
    }
    sum += values[row];
    low = std::min(low, values[row]);
    high = std::max(high, values[row]);
    ++count;
  }
  Moments moments;
  if (count == 0) return {0, 0, true};
  moments.mean = sum / count;
  double squares = 0;
  for (const double value : values) {
    if (!std::isnan(value)) squares += (value - moments.mean) * (value - moments.mean);
  }
  moments.sd = std::sqrt(squares / count);
  const double largest = std::max(std::abs(low), std::abs(high));
  // A sum of equal numbers rounds, and so does a constant that was computed.
  moments.constant = low == high || moments.sd <= 1e-13 * largest || moments.sd == 0;
  return moments;
}

void refuse_text(const CsvTable& table, int64_t column, const ColumnContents& contents,
                 const std::string& alternative) {
  if (contents.texts == 0) return;
  const int64_t row = contents.first_text;
  const std::string_view field = table.field(row, column);
  const std::string what = fmt::format("{}: {}", table.place_name(row, column), quote_field(field));
  const std::string near = explain_near_number(field);
  if (!near.empty()) throw Error(ErrorKind::data, fmt::format("{} {}, or use {}", what, near, alternative));
  if (contents.dates) {
    throw Error(ErrorKind::data, fmt::format("{} is a date or a time, and a number is expected; write it as a number, "
                                             "for example of days",
                                             what));
  }
  if (row == 0 && contents.texts == 1 && !table.had_header) {
    throw Error(ErrorKind::data, fmt::format("{} is not a number, but the rows below it are; if line {} holds the "
                                             "names of the columns, use --header yes",
                                             what, table.line(row)));
  }
  throw Error(ErrorKind::data,
              fmt::format("{} is not a number, but {} of the {} rows of this column are; correct it (a "
                          "missing value is empty or NA), or use {}",
                          what, contents.numbers, table.rows(), alternative));
}

}  // namespace ockham
