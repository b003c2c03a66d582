#include "ockham/data/csv_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "ockham/base/error.h"
#include "ockham/data/csv_field.h"

namespace ockham {
namespace {

bool is_text(std::string_view field) { return !is_missing(field) && !parse_number(field); }

}  // namespace

bool detect_header(const CsvTable& table) {
  const int64_t rows = std::min<int64_t>(table.rows(), 1000);
  bool comes_again = false;
  bool all_text = true;
  for (int64_t column = 0; column < table.columns(); ++column) {
    const std::string_view first = table.field(0, column);
    const bool text = is_text(first);
    // An empty corner over row names is usual.
    all_text = all_text && (text || (first.empty() && column == 0));
    int64_t numbers = 0, texts = 0;
    for (int64_t row = 1; row < rows; ++row) {
      const std::string_view field = table.field(row, column);
      if (is_missing(field)) continue;
      ++(parse_number(field) ? numbers : texts);
      comes_again = comes_again || (text && field == first);
    }
    // Numbers with a slip among them are still numbers; the slip is reported where they are used.
    if (text && numbers > 0 && numbers >= 9 * texts) return true;
  }
  return all_text && !comes_again;
}

void check_names(const CsvTable& table, int64_t line) {
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t column = 0; column < table.names.size(); ++column) {
    const std::string& name = table.names[column];
    if (name.empty()) {
      throw Error(
          ErrorKind::data,
          fmt::format("{}, line {}: column {} of {} has no name; give it one{}", table.path, line, column + 1,
                      table.names.size(),
                      column + 1 == table.names.size() ? ", or remove the separator at the end of the line" : ""));
    }
    const auto [earlier, fresh] = seen.emplace(name, column);
    if (!fresh) {
      throw Error(ErrorKind::data,
                  fmt::format("{}, line {}: columns {} and {} are both named {}; every column needs a name of its own",
                              table.path, line, earlier->second + 1, column + 1, quote_field(name)));
    }
  }
}

}  // namespace ockham
