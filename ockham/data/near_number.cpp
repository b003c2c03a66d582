#include "ockham/data/near_number.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ockham/data/csv_field.h"

namespace ockham {
namespace {

constexpr int kMostSigns = 3;  // around a number, such as "'-$5": every one is looked for on both sides of the rest

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string without(std::string_view text, std::string_view mark, std::string_view replacement = "") {
  std::string cleaned;
  for (size_t i = 0; i < text.size();) {
    if (starts_with(text.substr(i), mark)) {
      cleaned += replacement;
      i += mark.size();
    } else {
      cleaned += text[i++];
    }
  }
  return cleaned;
}

bool has(std::string_view text, std::string_view mark) { return text.find(mark) != std::string_view::npos; }

/// Groups of three digits after each mark: 1,234,567.5 but not 1,5.
bool separates_thousands(std::string_view text, std::string_view mark) {
  for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    const std::string_view group = text.substr(at + mark.size());
    const size_t digits = std::find_if_not(group.begin(), group.end(), is_digit) - group.begin();
    if (at == 0 || !is_digit(text[at - 1]) || digits != 3) return false;
  }
  return has(text, mark) && parse_number(without(text, mark)).has_value();
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string explain(std::string_view field, int more_signs);

bool reads_as_number(std::string_view text, int more_signs) {
  return parse_number(text).has_value() || (more_signs > 0 && !explain(text, more_signs - 1).empty());
}

/// Numbers between single marks: "2024-01-31" by '-' to {4, 2, 2} digits; empty when it is something else.
std::vector<size_t> digit_groups(std::string_view text, char mark) {
  std::vector<size_t> groups = {0};
  for (const char c : text) {
    if (is_digit(c)) {
      ++groups.back();
    } else if (c == mark && groups.back() > 0) {
      groups.push_back(0);
    } else {
      return {};
    }
  }
  return groups.back() > 0 ? groups : std::vector<size_t>{};
}

bool is_day(std::string_view text) {
  for (const char mark : {'-', '/', '.'}) {
    const std::vector<size_t> groups = digit_groups(text, mark);
    if (groups.size() != 3) continue;
    const bool year_first = groups[0] == 4 && groups[1] <= 2 && groups[2] <= 2;
    const bool year_last = groups[0] <= 2 && groups[1] <= 2 && (groups[2] == 4 || groups[2] == 2);
    return year_first || year_last;
  }
  return false;
}

bool is_time(std::string_view text) {
  if (ends_with(text, "Z")) text.remove_suffix(1);
  const size_t zone = text.find_first_of("+-");
  if (zone != std::string_view::npos) text = text.substr(0, zone);
  const size_t fraction = text.find('.');
  if (fraction != std::string_view::npos) text = text.substr(0, fraction);
  const std::vector<size_t> groups = digit_groups(text, ':');
  return (groups.size() == 2 || groups.size() == 3) && groups[0] <= 2 && groups[1] == 2 && groups.back() == 2;
}

std::string explain(std::string_view field, int more_signs) {
  if (field.size() < 2 || field.size() > 40 || parse_number(field)) return "";
  const bool comma_groups = separates_thousands(field, ",");
  if (comma_groups && field.find(',') == field.rfind(',') && !has(field, ".")) {
    return "has a comma, which may stand for thousands or for decimals; write numbers with a decimal point and no "
           "other marks";
  }
  for (const char* mark : {",", " ", "'", "\u2019", "\u00a0", "\u202f", "\u2009"}) {
    if (separates_thousands(field, mark)) return "has marks between its thousands; write the digits without them";
  }
  if (parse_number(without(field, ",", ".")) && !has(field, ".")) {
    return "has a decimal comma; write numbers with a decimal point";
  }
  const std::string pointed = without(without(field, "."), ",", ".");  // 1.234,5
  if (separates_thousands(field.substr(0, field.find(',')), ".") && parse_number(pointed)) {
    return "has a decimal comma; write numbers with a decimal point and no other marks";
  }
  if (field.back() == '%' && reads_as_number(trim(field.substr(0, field.size() - 1)), more_signs)) {
    return "has a percent sign; write the number alone";
  }
  for (const std::string_view sign : {"$", "€", "£", "¥", "USD", "EUR", "GBP"}) {
    const auto is_before = [&] {
      return starts_with(field, sign) && reads_as_number(trim(field.substr(sign.size())), more_signs);
    };
    const auto is_after = [&] {
      return ends_with(field, sign) && reads_as_number(trim(field.substr(0, field.size() - sign.size())), more_signs);
    };
    if (is_before() || is_after()) return "has a currency sign; write the number alone";
  }
  if (field.front() == '\'' && field.back() == '\'' && parse_number(field.substr(1, field.size() - 2))) {
    return "is in single quotes; write double quotes, or none";
  }
  if (field.front() == '\'' && reads_as_number(field.substr(1), more_signs)) {
    return "begins with an apostrophe; remove it";
  }
  for (const std::string_view minus : {"\u2212", "\u2013", "\u2014"}) {
    if (starts_with(field, minus) && reads_as_number(field.substr(minus.size()), more_signs)) {
      return "has a typographic minus sign; write an ordinary '-'";
    }
  }
  const size_t blank = field.find(' ');
  const bool has_unit = blank != std::string_view::npos && parse_number(field.substr(0, blank)) &&
                        std::none_of(field.begin() + blank, field.end(), is_digit);
  return has_unit ? "has a unit; write the number alone" : "";
}

}  // namespace

std::string explain_near_number(std::string_view field) { return explain(field, kMostSigns - 1); }

bool is_date(std::string_view field) {
  if (field.size() > 40) return false;
  if (is_day(field) || is_time(field)) return true;
  const size_t gap = field.find_first_of("T ");
  return gap != std::string_view::npos && is_day(field.substr(0, gap)) && is_time(field.substr(gap + 1));
}

}  // namespace ockham
