#include "ockham/data/csv_tokenise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr std::array<char, 3> separators = {'\t', ';', ','};

class Tokeniser {
 public:
  Tokeniser(const std::string& path, std::string& text, const CsvOptions& options)
      : path_(path),
        text_(text.data()),
        size_(text.size()),
        separator_(options.separator),
        longest_(std::min(options.longest_field, (size_t{1} << CsvTable::length_bits) - 1)) {}

  CsvFields run() {
    while (position_ < size_) {
      if (skip_empty_line()) continue;
      read_record();
    }
    return std::move(fields_);
  }

 private:
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

  void skip_line_end() {
    if (text_[position_] == '\r' && position_ + 1 < size_ && text_[position_ + 1] == '\n') ++position_;
    ++position_;
    ++line_;
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
    while (position_ < size_ && text_[position_] != separator_ && !is_line_end(text_[position_])) ++position_;
    size_t end = position_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    keep(begin, end, line_, column);
  }

  void read_quoted_field(int64_t column) {
    const int64_t opened = line_;
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
      if (c == '\n' || (c == '\r' && (position_ + 1 >= size_ || text_[position_ + 1] != '\n'))) ++line_;
      text_[end++] = c;
      ++position_;
    }
    ++position_;
    while (position_ < size_ && is_blank(text_[position_])) ++position_;
    if (position_ < size_ && text_[position_] != separator_ && !is_line_end(text_[position_])) {
      refuse(line_,
             fmt::format("column {} goes on after its closing quote; a quote inside a field is written twice", column));
    }
    keep(begin, end, opened, column);
  }

  void read_record() {
    const int64_t line = line_;
    int64_t column = 0;
    while (true) {
      ++column;
      while (position_ < size_ && is_blank(text_[position_])) ++position_;
      if (position_ < size_ && text_[position_] == '"') {
        read_quoted_field(column);
      } else {
        read_plain_field(column);
      }
      if (position_ >= size_) break;
      if (text_[position_] != separator_) {
        skip_line_end();
        break;
      }
      ++position_;
    }
    if (fields_.lines.empty()) {
      fields_.width = column;
      reserve(column);
    } else if (column != fields_.width) {
      refuse_ragged(line, column);
    }
    fields_.lines.push_back(line);
  }

  /// Growing by doubling would touch every page twice; the first records tell how many more there will be.
  void reserve(int64_t width) {
    const size_t records = size_ / std::max<size_t>(position_, 1) + 1;
    fields_.places.reserve(std::min(records, size_ / std::max<size_t>(width, 1) + 1) * width);
  }

  [[noreturn]] void refuse_ragged(int64_t line, int64_t column) const {
    const int64_t first = fields_.lines.front();
    std::string advice = "every row must have as many";
    if (fields_.lines.size() == 1 && column == fields_.width + 1) {
      advice += "; if the rows begin with their names, write the file without row names";
    }
    refuse(line, fmt::format("there {} {} field{}, but line {} has {}; {}", column == 1 ? "is" : "are", column,
                             column == 1 ? "" : "s", first, fields_.width, advice));
  }

  const std::string& path_;
  char* text_;
  size_t size_;
  char separator_;
  size_t longest_;
  size_t position_ = 0;
  int64_t line_ = 1;
  CsvFields fields_;
};

}  // namespace

char detect_separator(const std::string& text) {
  constexpr size_t lines_looked_at = 20;
  std::vector<std::array<int64_t, separators.size()>> counts(1);
  bool quoted = false;
  bool content = false;
  const size_t end = std::min(text.size(), size_t{1} << 20);
  for (size_t i = 0; i < end && counts.size() <= lines_looked_at; ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') {
      if (content) counts.push_back({});
      content = false;
      continue;
    }
    content = content || c != ' ';
    for (size_t k = 0; k < separators.size(); ++k) counts.back()[k] += c == separators[k];
  }
  if (counts.size() > 1) counts.pop_back();  // begun, or beyond the lines looked at
  for (size_t k = 0; k < separators.size(); ++k) {
    const bool equal =
        std::all_of(counts.begin(), counts.end(), [&](const auto& line) { return line[k] == counts[0][k]; });
    if (counts[0][k] > 0 && equal) return separators[k];
  }
  const auto most = std::max_element(counts[0].begin(), counts[0].end());
  return *most > 0 ? separators[most - counts[0].begin()] : ',';
}

CsvFields tokenise(const std::string& path, std::string& text, const CsvOptions& options) {
  return Tokeniser(path, text, options).run();
}

}  // namespace ockham
