#include "ockham/data/csv_separator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ockham/data/csv_field.h"

namespace ockham {
namespace {

constexpr std::array<char, 4> separators = {'\t', ';', ',', '|'};

/// What a line outside of quotes holds of each separator, and how blanks would cut it.
struct LineCounts {
  std::array<int64_t, separators.size()> found{};
  int64_t words = 0;
  int64_t numbers = 0;
};

void count_words(std::string_view line, LineCounts& counts) {
  constexpr const char* blanks = " \t";
  size_t begin = line.find_first_not_of(blanks);
  while (begin != std::string_view::npos) {
    size_t end = begin;
    if (line[begin] == '"') end = std::min(line.find('"', begin + 1), line.size());
    end = std::min(line.find_first_of(blanks, end), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    ++counts.words;
    counts.numbers += is_missing(word) || parse_number(word);
    begin = line.find_first_not_of(blanks, end);
  }
}

/// Of the first lines that are not empty; one that is cut off by the limits here is left out.
std::vector<LineCounts> count_lines(std::string_view text) {
  constexpr size_t lines_looked_at = 20;
  std::vector<LineCounts> lines(1);
  bool quoted = false;
  size_t begin = 0;
  const size_t end = std::min(text.size(), size_t{1} << 20);
  for (size_t i = 0; i < end && lines.size() <= lines_looked_at; ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') {
      count_words(text.substr(begin, i - begin), lines.back());
      if (lines.back().words > 0) {
        lines.emplace_back();
      } else {
        lines.back() = {};
      }
      begin = i + 1;
      continue;
    }
    for (size_t k = 0; k < separators.size(); ++k) lines.back().found[k] += c == separators[k];
  }
  const bool cut_off = end < text.size() || lines.size() > lines_looked_at;
  if (!cut_off) count_words(text.substr(begin, end - begin), lines.back());
  if (lines.size() > 1 && (cut_off || lines.back().words == 0)) lines.pop_back();
  return lines;
}

bool blanks_separate(const std::vector<LineCounts>& lines) {
  int64_t words = 0, numbers = 0;
  for (const LineCounts& line : lines) {
    if (line.words != lines[0].words) return false;
    const bool may_be_header = &line == &lines[0] && lines.size() > 1;
    if (!may_be_header) words += line.words, numbers += line.numbers;
  }
  return lines[0].words > 1 && 2 * numbers > words;
}

}  // namespace

char detect_separator(const std::string& text) {
  const std::vector<LineCounts> lines = count_lines(text);
  const auto& first = lines[0].found;
  for (size_t k = 0; k < separators.size(); ++k) {
    const bool equal =
        std::all_of(lines.begin(), lines.end(), [&](const LineCounts& line) { return line.found[k] == first[k]; });
    if (first[k] > 0 && equal) return separators[k];
  }
  if (blanks_separate(lines)) return ' ';
  const auto most = std::max_element(first.begin(), first.end());
  return *most > 0 ? separators[most - first.begin()] : ',';
}

char take_separator_line(std::string& text) {
  constexpr size_t length = 5;
  if (text.compare(0, 4, "sep=") != 0 || text.size() <= length) return 0;
  if (text[length] != '\n' && text[length] != '\r') return 0;
  const char separator = text[4];
  text.replace(0, length, length, ' ');
  return separator;
}

}  // namespace ockham
