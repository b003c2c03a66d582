#include "ockham/data/csv_tokenise.h"

#include <fmt/format.h>

#include <algorithm>

#include "ockham/base/error.h"

namespace ockham {
namespace {

class Tokeniser {
 public:
  Tokeniser(const std::string& path, std::string& text, const CsvOptions& options, CsvPosition& place)
      : path_(path),
        text_(text.data()),
        size_(text.size()),
        separator_(options.separator),
        other_separator_(options.separator == ' ' ? '\t' : options.separator),
        longest_(std::min(options.longest_field, (size_t{1} << CsvTable::length_bits) - 1)),
        place_(place) {}

  CsvFields run() {
    while (position_ < size_) {
      if (skip_empty_line()) continue;
      read_record();
    }
    fields_.width = place_.width;
    return std::move(fields_);
  }

 private:
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool is_separator(char c) const { return c == separator_ || c == other_separator_; }
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
  bool blanks_separate() const { return separator_ == ' '; }

  void skip_blanks() {
    while (position_ < size_ && is_blank(text_[position_])) ++position_;
  }

  void skip_line_end() {
    if (text_[position_] == '\r' && position_ + 1 < size_ && text_[position_ + 1] == '\n') ++position_;
    ++position_;
    ++place_.line;
  }

  bool skip_empty_line() {
    size_t next = position_;
    while (next < size_ && is_blank(text_[next])) ++next;
    if (next < size_ && !is_line_end(text_[next])) return false;
    position_ = next;
    if (position_ < size_) skip_line_end();
    return true;
  }

  [[noreturn]] void refuse(int64_t line, const std::string& why) const {
    throw Error(ErrorKind::data, fmt::format("{}, line {}: {}", path_, line, why));
  }

  void keep(size_t begin, size_t end, int64_t line, int64_t column) {
    if (end - begin > longest_) {
      refuse(line, fmt::format("column {} has a field of {} bytes, but {} is the most; is this a table?", column,
                               end - begin, longest_));
    }
    fields_.places.push_back(CsvTable::place_at(begin, end - begin));
  }

  void read_plain_field(int64_t column) {
    const size_t begin = position_;
    while (position_ < size_ && !is_separator(text_[position_]) && !is_line_end(text_[position_])) ++position_;
    size_t end = position_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    keep(begin, end, place_.line, column);
  }

  void read_quoted_field(int64_t column) {
    const int64_t opened = place_.line;
    const size_t begin = ++position_;
    size_t end = begin;
    while (true) {
      if (position_ >= size_) refuse(opened, fmt::format("column {} opens a quote that is never closed", column));
      if (end - begin > longest_) {
        refuse(opened, fmt::format("column {} opens a quote that is not closed within {} bytes, the longest field",
                                   column, longest_));
      }
      const char c = text_[position_];
      if (c == '"') {
        if (position_ + 1 >= size_ || text_[position_ + 1] != '"') break;
        ++position_;
      }
      if (c == '\n' || (c == '\r' && (position_ + 1 >= size_ || text_[position_ + 1] != '\n'))) ++place_.line;
      text_[end++] = c;
      ++position_;
    }
    ++position_;
    if (!blanks_separate()) skip_blanks();
    if (position_ < size_ && !is_separator(text_[position_]) && !is_line_end(text_[position_])) {
      refuse(place_.line,
             fmt::format("column {} goes on after its closing quote; a quote inside a field is written twice", column));
    }
    keep(begin, end, opened, column);
  }

  void read_record() {
    const int64_t line = place_.line;
    const size_t begin = position_;
    int64_t column = 0;
    while (true) {
      ++column;
      skip_blanks();
      if (position_ < size_ && text_[position_] == '"') {
        read_quoted_field(column);
      } else {
        read_plain_field(column);
      }
      if (blanks_separate()) skip_blanks();
      if (position_ >= size_) break;
      if (is_line_end(text_[position_])) {
        skip_line_end();
        break;
      }
      if (!blanks_separate()) ++position_;
    }
    if (place_.records == 0) {
      place_.width = column;
      place_.first_line = line;
      place_.first_is_comment = text_[begin] == '#';
    } else if (column != place_.width) {
      refuse_ragged(line, column, text_[begin] == '#');
    }
    if (fields_.lines.empty()) reserve(column);
    fields_.lines.push_back(line);
    ++place_.records;
  }

  /// Growing by doubling would touch every page twice; the first records tell how many more there will be.
  void reserve(int64_t width) {
    const size_t records = size_ / std::max<size_t>(position_, 1) + 1;
    fields_.places.reserve(std::min(records, size_ / std::max<size_t>(width, 1) + 1) * width);
  }

  [[noreturn]] void refuse_ragged(int64_t line, int64_t column, bool is_comment) const {
    const int64_t first = place_.first_line;
    const bool one_more = place_.records == 1 && column == place_.width + 1;
    const bool last_is_empty = fields_.places.back() % (uint64_t{1} << CsvTable::length_bits) == 0;
    std::string advice = "every row must have as many";
    if (place_.first_is_comment || is_comment) {
      advice = fmt::format("line {} looks like a comment, which a table cannot have; remove lines that begin with #",
                           is_comment ? line : first);
    } else if (place_.width == 1) {
      advice = fmt::format("if line {} is a title above the table, remove it", first);
    } else if (one_more && last_is_empty) {
      advice += "; remove the separator at the end of the lines";
    } else if (one_more) {
      advice += "; if the rows begin with their names, write the file without row names";
    } else if (separator_ == ',' && column > place_.width) {
      advice += "; a field that holds a comma needs quotes around it";
    }
    refuse(line, fmt::format("there {} {} field{}, but line {} has {}; {}", column == 1 ? "is" : "are", column,
                             column == 1 ? "" : "s", first, place_.width, advice));
  }

  const std::string& path_;
  char* text_;
  size_t size_;
  char separator_;
  char other_separator_;  // tabs are blanks too
  size_t longest_;
  size_t position_ = 0;
  CsvPosition& place_;
  CsvFields fields_;
};

}  // namespace

CsvFields tokenise(const std::string& path, std::string& text, const CsvOptions& options) {
  CsvPosition beginning;
  return tokenise(path, text, options, beginning);
}

CsvFields tokenise(const std::string& path, std::string& text, const CsvOptions& options, CsvPosition& position) {
  return Tokeniser(path, text, options, position).run();
}

}  // namespace ockham
