#include "ockham/data/csv.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "ockham/base/error.h"
#include "ockham/data/csv_field.h"
#include "ockham/data/csv_header.h"
#include "ockham/data/csv_source.h"
#include "ockham/data/csv_tokenise.h"

namespace ockham {
namespace {

void append_field(std::string& text, std::string_view field) {
  const bool blank_edge = !field.empty() && (field.front() == ' ' || field.back() == ' ');
  if (!blank_edge && field.find_first_of(",;\t\"\r\n") == std::string_view::npos) {
    text += field;
    return;
  }
  text += '"';
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

}  // namespace

int64_t CsvTable::find_column(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

std::string CsvTable::place_name(int64_t row, int64_t column) const {
  return fmt::format("{}, line {}, column {}", path, line(row), quote_field(names[column]));
}

CsvTable parse_csv(std::string text, const std::string& path, const CsvOptions& options) {
  check_text(path, text);
  CsvOptions chosen = options;
  if (chosen.separator == 0) chosen.separator = detect_separator(text);
  CsvFields fields = tokenise(path, text, chosen);
  if (fields.lines.empty()) throw Error(ErrorKind::data, fmt::format("{}: is empty; a table is expected", path));

  CsvTable table;
  table.path = path;
  table.separator = chosen.separator;
  table.names.resize(fields.width);
  const int64_t first_line = fields.lines.front();
  table.set_fields(std::move(text), std::move(fields.places), std::move(fields.lines));
  table.had_header =
      options.header == HeaderRow::automatic ? detect_header(table) : options.header == HeaderRow::present;
  if (!table.had_header) {
    for (int64_t column = 0; column < fields.width; ++column) table.names[column] = fmt::format("x{}", column + 1);
    if (options.header == HeaderRow::automatic) {
      table.messages.push_back(
          fmt::format("{}: the first row is taken for data, and the columns are named x1 to x{} "
                      "(--header yes says that it holds the names)",
                      path, fields.width));
    }
    return table;
  }
  for (int64_t column = 0; column < fields.width; ++column) table.names[column] = table.field(0, column);
  check_names(table, first_line);
  if (table.rows() == 1) {
    throw Error(ErrorKind::data, fmt::format("{}: has only a header, no rows; add the data below it", path));
  }
  table.drop_first_row();
  return table;
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  return parse_csv(read_source(path), path == "-" ? "standard input" : path, options);
}

CsvTable make_table(const std::string& path, std::vector<std::string> names,
                    const std::vector<std::vector<std::string>>& rows) {
  CsvTable table;
  table.path = path;
  table.names = std::move(names);
  std::string text;
  std::vector<uint64_t> places;
  std::vector<int64_t> lines;
  for (const auto& row : rows) {
    if (row.size() != table.names.size()) {
      throw Error(ErrorKind::data, fmt::format("{}: row {} has {} fields, but there are {} names", path,
                                               lines.size() + 1, row.size(), table.names.size()));
    }
    for (const std::string& field : row) {
      places.push_back(CsvTable::place_at(text.size(), field.size()));
      text += field;
    }
    lines.push_back(static_cast<int64_t>(lines.size()) + 2);
  }
  check_names(table, 1);
  table.set_fields(std::move(text), std::move(places), std::move(lines));
  return table;
}

std::string format_csv(const CsvTable& table) {
  std::string text;
  const auto end_field = [&](int64_t column) { text += column + 1 == table.columns() ? '\n' : ','; };
  for (int64_t column = 0; column < table.columns(); ++column) {
    append_field(text, table.names[column]);
    end_field(column);
  }
  for (int64_t row = 0; row < table.rows(); ++row) {
    for (int64_t column = 0; column < table.columns(); ++column) {
      const std::string_view field = table.field(row, column);
      // An empty line would be skipped by the reader.
      if (field.empty() && table.columns() == 1) text += "\"\"";
      append_field(text, field);
      end_field(column);
    }
  }
  return text;
}

void write_csv(const std::string& path, const CsvTable& table) {
  const std::string temporary = fmt::format("{}.{}.partial", path, ::getpid());
  std::error_code failure;
  {
    std::ofstream file(temporary, std::ios::binary);
    file << format_csv(table);
    file.flush();
    if (!file) failure = std::make_error_code(std::errc::io_error);
  }
  if (!failure) std::filesystem::rename(temporary, path, failure);
  if (failure) {
    std::remove(temporary.c_str());
    throw Error(ErrorKind::data,
                fmt::format("{}: cannot be written; check that its directory exists and the disk has room", path));
  }
}

}  // namespace ockham
