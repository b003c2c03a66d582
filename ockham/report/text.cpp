#include "ockham/report/text.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace ockham::report {
namespace {

constexpr const char* minus = "\u2212";
constexpr const char* nothing = "\u2013";

/// Commas between the thousands of "1234567.8"; four digits stay together, they may be a year.
std::string group_thousands(std::string digits) {
  size_t end = std::min(digits.find('.'), digits.size());
  if (end <= 4) return digits;
  while (end > 3) digits.insert(end -= 3, ",");
  return digits;
}

std::string superscript(int exponent) {
  static const char* const digits[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                       "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = exponent < 0 ? "\u207b" : "";
  for (char digit : std::to_string(std::abs(exponent))) text += digits[digit - '0'];
  return text;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '&')
      escaped += "&amp;";
    else if (character == '<')
      escaped += "&lt;";
    else if (character == '>')
      escaped += "&gt;";
    else if (character == '"')
      escaped += "&quot;";
    else if (character == '\'')
      escaped += "&#39;";
    else if ((byte < 0x20 && character != '\n' && character != '\t') || byte == 0x7f)
      escaped += "\ufffd";
    else
      escaped += character;
  }
  return escaped;
}

std::string escape_script(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size() + json.size() / 16);
  for (char character : json) {
    if (character == '<' || character == '>' || character == '&')
      escaped += fmt::format("\\u{:04x}", static_cast<int>(character));
    else
      escaped += character;
  }
  return escaped;
}

std::string format_count(int64_t count) {
  const std::string digits = std::to_string(count);
  return count < 0 ? minus + group_thousands(digits.substr(1)) : group_thousands(digits);
}

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return nothing;
  if (std::abs(value) >= 1e12) return format_number(value);
  const std::string digits = group_thousands(fmt::format("{:.{}f}", std::abs(value), decimals));
  const bool negative = value < 0 && digits.find_first_of("123456789") != std::string::npos;
  return negative ? minus + digits : digits;
}

std::string format_number(double value) {
  if (!std::isfinite(value)) return nothing;
  if (value == 0) return "0";
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value) * (1 + 1e-12))));
  if (exponent >= -4 && exponent < 7) return format_fixed(value, std::max(0, 3 - exponent));
  const double mantissa = value / std::pow(10.0, exponent);
  return format_fixed(mantissa, 2) + " × 10" + superscript(exponent);
}

std::string format_percent(double share) {
  if (!std::isfinite(share)) return nothing;
  if (share >= 0.9995) return "> 99.9 %";
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return format_fixed(100 * share, 1) + " %";
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return nothing;
  if (seconds < 59.95) return format_fixed(seconds, seconds < 10 ? 1 : 0) + " s";
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", format_count(whole / 3600), whole / 60 % 60);
}

std::string metric_title(const std::string& name) {
  if (const size_t count = name.find('@'); count != std::string::npos)
    return fmt::format("{}, of {} examples", metric_title(name.substr(0, count)), name.substr(count + 1));
  static const std::map<std::string, std::string> titles = {{"rmse", "RMSE"},
                                                            {"nll", "NLL (MAP)"},
                                                            {"nll_bayes", "NLL (linearised)"},
                                                            {"coverage95", "Targets in the 95 % interval"},
                                                            {"accuracy", "Accuracy"},
                                                            {"ece", "ECE"},
                                                            {"brier", "Brier score"},
                                                            {"log_likelihood", "Log likelihood"},
                                                            {"accuracy_bayes", "Accuracy (linearised)"},
                                                            {"ece_bayes", "ECE (linearised)"},
                                                            {"brier_bayes", "Brier score (linearised)"}};
  const auto known = titles.find(name);
  if (known != titles.end()) return known->second;
  std::string title = name;
  for (char& character : title)
    if (character == '_') character = ' ';
  return title;
}

std::string format_metric(const std::string& name, double value) {
  if (const size_t count = name.find('@'); count != std::string::npos)
    return format_metric(name.substr(0, count), value);
  if ((name == "accuracy" || name == "accuracy_bayes" || name == "coverage95") && std::isfinite(value))
    return format_fixed(100 * value, 1) + " %";
  return format_number(value);
}

}  // namespace ockham::report
