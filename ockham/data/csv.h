// Tables of text: comma-separated files as people have them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ockham {

enum class HeaderRow { automatic, present, absent };

struct CsvOptions {
  char separator = 0;                       // ',', ';', '|', tab, or ' ' for any blanks; 0 looks at the first lines
  HeaderRow header = HeaderRow::automatic;  // automatic: see `read_csv`
  size_t longest_field = 100000;            // bytes; a longer one is a quote that was never closed, or no table
};

/// Rows of fields. The fields lie in one buffer, and 8 bytes say where each one is.
class CsvTable {
 public:
  std::string path;                // for messages: a file, "standard input", or what the table is
  std::vector<std::string> names;  // of the columns; x1, x2, ... without a header
  bool had_header = true;
  char separator = ',';
  std::vector<std::string> messages;  // what was guessed, each with the flag that overrides it

  int64_t rows() const { return static_cast<int64_t>(lines_.size()); }
  int64_t columns() const { return static_cast<int64_t>(names.size()); }
  std::string_view field(int64_t row, int64_t column) const {
    const uint64_t place = places_[row * names.size() + column];
    return {text_.data() + (place >> length_bits), place & ((uint64_t{1} << length_bits) - 1)};
  }
  /// The line of the file on which a row begins, counted from 1.
  int64_t line(int64_t row) const { return lines_[row]; }
  /// -1 when there is no column of that name.
  int64_t find_column(std::string_view name) const;
  /// "energy.csv, line 17, column 'height'"
  std::string place_name(int64_t row, int64_t column) const;

  // For those who fill a table: where fields lie in the text, row by row, and the line of each row.
  static constexpr int length_bits = 24;
  static uint64_t place_at(uint64_t begin, uint64_t length) { return begin << length_bits | length; }
  void set_fields(std::string text, std::vector<uint64_t> places, std::vector<int64_t> lines) {
    text_ = std::move(text), places_ = std::move(places), lines_ = std::move(lines);
  }
  void drop_first_row() {
    places_.erase(places_.begin(), places_.begin() + columns());
    lines_.erase(lines_.begin());
  }
  void drop_column(int64_t column);

 private:
  std::string text_;
  std::vector<uint64_t> places_;  // [rows * columns]
  std::vector<int64_t> lines_;    // [rows]
};

/// Reads a file, gzip or not, or standard input ("-"). Fields in double quotes may hold separators, line ends and
/// doubled quotes; blanks around a field, empty lines and a byte-order mark are dropped; lines end in LF, CRLF or CR.
/// Blanks separate fields only where they alone cut the lines alike. A first column without a name (row names) and a
/// last one without name and values (separators at line ends) are left out.
/// The first row is taken for a header when a field that is no number stands over numbers, or, in a table of text, when
/// none of its fields comes again in its column.
/// Throws Error(data) with file, line and column for ragged rows, an empty file, only a header, duplicate or empty
/// column names, NUL bytes, text that is not UTF-8, a field too long, a quote that is not closed, truncated gzip.
CsvTable read_csv(const std::string& path, const CsvOptions& options = {});

/// The same for text in memory; `path` is its name in messages.
CsvTable parse_csv(std::string text, const std::string& path, const CsvOptions& options = {});

/// A table of given fields, with a header.
CsvTable make_table(const std::string& path, std::vector<std::string> names,
                    const std::vector<std::vector<std::string>>& rows);

/// The table as CSV: header, commas, LF; quotes only where needed.
std::string format_csv(const CsvTable& table);

/// Writes it, atomically. Throws Error(failure).
void write_csv(const std::string& path, const CsvTable& table);

}  // namespace ockham
