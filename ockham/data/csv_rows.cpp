#include "ockham/data/csv_rows.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

constexpr uint64_t kDivisionStream = 0x6469766964650000;

}  // namespace

CsvTable take_rows(const CsvTable& table, const std::vector<int64_t>& rows) {
  CsvTable taken;
  taken.path = table.path;
  taken.names = table.names;
  taken.had_header = table.had_header;
  taken.separator = table.separator;
  std::string text;
  std::vector<uint64_t> places;
  std::vector<int64_t> lines;
  places.reserve(rows.size() * table.names.size());
  for (const int64_t row : rows) {
    lines.push_back(table.line(row));
    for (int64_t column = 0; column < table.columns(); ++column) {
      const std::string_view field = table.field(row, column);
      places.push_back(CsvTable::place_at(text.size(), field.size()));
      text += field;
    }
  }
  taken.set_fields(std::move(text), std::move(places), std::move(lines));
  return taken;
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> divide_rows(int64_t rows, double fraction, uint64_t seed) {
  const int64_t tests = std::max<int64_t>(1, std::llround(fraction * static_cast<double>(rows)));
  if (tests >= rows)
    throw Error(ErrorKind::usage, fmt::format("--test-fraction {} leaves none of the {} rows for training; give a "
                                              "smaller one.",
                                              fraction, rows));
  const at::Tensor order = at::randperm(rows, random_stream({seed, kDivisionStream}), at::kLong);
  const int64_t* indices = order.data_ptr<int64_t>();
  std::vector<int64_t> test(indices, indices + tests), training(indices + tests, indices + rows);
  std::sort(test.begin(), test.end());
  std::sort(training.begin(), training.end());
  return {training, test};
}

}  // namespace ockham
