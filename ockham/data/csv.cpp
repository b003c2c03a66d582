#include "ockham/data/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/data/csv_field.h"
#include "ockham/data/csv_header.h"
#include "ockham/data/csv_separator.h"
#include "ockham/data/csv_source.h"
#include "ockham/data/csv_tokenise.h"

namespace ockham {
namespace {

/// Would the reader take a text that begins so for something else than a table: a byte-order mark, another kind of
/// file, a line that names the separator?
bool misleads(std::string_view beginning) {
  for (const std::string_view start :
       {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "PK", "PAR1", "BZh", "<", "[{", "@", "sep="})
    if (beginning.substr(0, start.size()) == start) return true;
  return false;
}

void append_field(std::string& text, std::string_view field) {
  const bool blank_edge = !field.empty() && (field.front() == ' ' || field.back() == ' ');
  const bool first = text.empty() && misleads(field);
  if (!blank_edge && !first && field.find_first_of(",;\t\"\r\n") == std::string_view::npos) {
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

/// Programs write row names below an empty name, and separators at the ends of lines.
void drop_unnamed_columns(CsvTable& table) {
  const auto all_empty = [&](int64_t column) {
    for (int64_t row = 0; row < table.rows(); ++row) {
      if (!table.field(row, column).empty()) return false;
    }
    return true;
  };
  const int64_t last = table.columns() - 1;
  if (last > 0 && table.names[last].empty() && all_empty(last)) {
    table.drop_column(last);
    table.messages.push_back(fmt::format("{}: the lines end in a separator, which is ignored", table.path));
  }
  if (table.columns() > 1 && table.names[0].empty()) {
    table.drop_column(0);
    table.messages.push_back(fmt::format(
        "{}: the first column has no name and is left out as row names (give it a name to use it)", table.path));
  }
}

}  // namespace

int64_t CsvTable::find_column(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

std::string CsvTable::place_name(int64_t row, int64_t column) const {
  return fmt::format("{}, line {}, column {}", path, line(row), quote_field(names[column]));
}

void CsvTable::drop_column(int64_t column) {
  const size_t width = names.size();
  size_t kept = 0;
  for (size_t place = 0; place < places_.size(); ++place) {
    if (place % width != static_cast<size_t>(column)) places_[kept++] = places_[place];
  }
  places_.resize(kept);
  names.erase(names.begin() + column);
}

CsvTable parse_csv(std::string text, const std::string& path, const CsvOptions& options) {
  check_text(path, text);
  CsvOptions chosen = options;
  const char declared = take_separator_line(text);
  if (chosen.separator == 0) chosen.separator = declared != 0 ? declared : detect_separator(text);
  CsvFields fields = tokenise(path, text, chosen);
  if (fields.lines.empty()) throw Error(ErrorKind::data, fmt::format("{}: is empty; a table is expected", path));

  CsvTable table;
  table.path = path;
  table.separator = chosen.separator;
  if (options.separator == 0 && chosen.separator == ' ')
    table.messages.push_back(fmt::format("{}: blanks separate the fields (--separator overrides)", path));
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
  if (table.rows() == 1) {
    throw Error(ErrorKind::data, fmt::format("{}: has only a header, no rows; add the data below it", path));
  }
  table.drop_first_row();
  drop_unnamed_columns(table);
  check_names(table, first_line);
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

void write_csv(const std::string& path, const CsvTable& table) { write_atomically(path, format_csv(table)); }

}  // namespace ockham
