#include "experiments/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ockham::paper {
namespace {

/// Columns that a terminal needs: bytes that do not continue a character.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return left ? text + blanks : blanks + text;
}

std::string without_pipes(std::string text) {
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

std::string pipe_row(const std::vector<std::string>& fields) {
  std::string row = "|";
  for (const std::string& field : fields) row += " " + without_pipes(field) + " |";
  return row + "\n";
}

}  // namespace

Summary summarise(const std::vector<double>& values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double one) { return std::isfinite(one); });
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(finite.size());
  if (finite.empty()) return {nothing, nothing, 0};
  double sum = 0, squares = 0;
  for (const double value : finite) sum += value;
  const double mean = sum / count;
  for (const double value : finite) squares += (value - mean) * (value - mean);
  return {mean, finite.size() < 2 ? nothing : std::sqrt(squares / (count - 1) / count),
          static_cast<int64_t>(finite.size())};
}

std::string format_number(double value, int decimals) {
  if (!std::isfinite(value)) return "–";
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos && text[0] == '-' ? text.substr(1) : text;
}

std::string format_summary(const Summary& summary, int decimals) {
  if (!std::isfinite(summary.mean) || !std::isfinite(summary.error)) return format_number(summary.mean, decimals);
  return format_number(summary.mean, decimals) + " ± " + format_number(summary.error, decimals);
}

std::string mean_and_error(const std::vector<double>& values, int decimals) {
  return format_summary(summarise(values), decimals);
}

std::optional<bool> as_good(const Summary& ours, const Summary& theirs) {
  if (!std::isfinite(ours.mean) || !std::isfinite(theirs.mean)) return std::nullopt;
  const auto known = [](double error) { return std::isfinite(error) ? error : 0; };
  return ours.mean <= theirs.mean + 2 * std::hypot(known(ours.error), known(theirs.error));
}

std::string verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::yes:
      return "yes";
    case Verdict::no:
      return "no";
    case Verdict::partly:
      return "partly";
    case Verdict::open:
      break;
  }
  return "open";
}

Verdict verdict_of(std::optional<bool> holds) { return !holds ? Verdict::open : *holds ? Verdict::yes : Verdict::no; }

std::string markdown(const Table& table, int heading) {
  std::string text = std::string(static_cast<size_t>(heading), '#') + " " + table.title + "\n";
  text += pipe_row(table.columns);
  text += pipe_row(std::vector<std::string>(table.columns.size(), "---"));
  for (const auto& row : table.rows) text += pipe_row(row);
  if (!table.note.empty()) text += "\n" + table.note + "\n";
  return text;
}

std::string plain_text(const Table& table) {
  std::vector<size_t> widths(table.columns.size());
  const auto widen = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < std::min(row.size(), widths.size()); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  };
  widen(table.columns);
  for (const auto& row : table.rows) widen(row);
  std::string text = table.title + "\n";
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line = " ";
    for (size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
      line += " " + padded(row[i], widths[i] + 1, i == 0);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  add(table.columns);
  for (const auto& row : table.rows) add(row);
  if (!table.note.empty()) text += "  " + table.note + "\n";
  return text;
}

}  // namespace ockham::paper
