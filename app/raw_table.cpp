#include "app/raw_table.h"

#include <fmt/format.h>

#include "ockham/base/error.h"
#include "ockham/data/csv_field.h"

namespace ockham::app {
namespace {

std::string skip_lines(const std::string& text, int count) {
  size_t begin = 0;
  for (int k = 0; k < count && begin != std::string::npos; ++k) begin = text.find('\n', begin) + 1;
  return text.substr(begin);
}

std::string spell(std::string_view field) {
  const auto number = parse_number(field);
  return number ? fmt::format("{}", *number) : std::string(field);
}

void name_classes(std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& classes) {
  for (auto& row : rows) {
    const auto number = parse_number(row.back());
    const bool known = number && *number >= 0 && *number < static_cast<double>(classes.size());
    if (!known)
      throw Error(ErrorKind::data, fmt::format("the class '{}' is not known; please report this", row.back()));
    row.back() = classes[static_cast<size_t>(*number)];
  }
}

}  // namespace

CsvTable tidy_table(const std::string& name, const std::vector<std::string>& contents, const RawLayout& layout) {
  CsvOptions options;
  options.separator = layout.separator;
  options.header = layout.names.empty() ? HeaderRow::present : HeaderRow::absent;
  std::vector<std::string> names = layout.names;
  std::vector<std::vector<std::string>> rows;
  for (const std::string& content : contents) {
    const CsvTable part = parse_csv(skip_lines(content, layout.skipped_lines), name, options);
    if (layout.names.empty()) names.insert(names.end(), part.names.begin(), part.names.end());
    if (rows.empty()) rows.resize(part.rows());
    if (static_cast<int64_t>(rows.size()) != part.rows())
      throw Error(ErrorKind::data, fmt::format("the files of {} have different numbers of rows", name));
    for (int64_t row = 0; row < part.rows(); ++row) {
      for (int64_t column = 0; column < part.columns(); ++column) rows[row].push_back(spell(part.field(row, column)));
    }
  }
  if (!layout.classes.empty()) name_classes(rows, layout.classes);
  return make_table(name, names, rows);
}

}  // namespace ockham::app
