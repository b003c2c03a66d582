#include "ockham/data/csv_field.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace ockham {

bool is_missing(std::string_view field) {
  if (field.empty()) return true;
  if (field.size() > 4) return false;
  char lower[4];
  for (size_t i = 0; i < field.size(); ++i) {
    const char c = field[i];
    lower[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const std::string_view word(lower, field.size());
  return word == "na" || word == "nan" || word == "?" || word == "null" || word == "n/a" || word == "#n/a" ||
         word == "<na>";
}

std::optional<double> parse_number(std::string_view field) {
  if (!field.empty() && field[0] == '+') {
    field.remove_prefix(1);
    if (!field.empty() && field[0] == '-') return std::nullopt;
  }
  double value = 0;
  const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (end != field.data() + field.size() || status == std::errc::invalid_argument) return std::nullopt;
  // Only strtod tells whether the number was too large or too small.
  if (status == std::errc::result_out_of_range) value = std::strtod(std::string(field).c_str(), nullptr);
  if (std::isnan(value)) return std::nullopt;
  return value;
}

std::string quote_field(std::string_view field) {
  constexpr size_t longest = 40;
  std::string text = "'";
  size_t length = std::min(field.size(), longest);
  // A character of several bytes is not cut in two.
  while (length < field.size() && length > 0 && (static_cast<unsigned char>(field[length]) & 0xc0) == 0x80) --length;
  for (const char c : field.substr(0, length)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  if (length < field.size()) text += "...";
  return text + "'";
}

std::string shell_word(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char letter) {
    return std::isalnum(letter) || std::strchr("_-.,:/@%+=", letter) || letter >= 0x80;
  });
  if (plain) return name;
  std::string word = "'";
  for (const char letter : name) word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

}  // namespace ockham
