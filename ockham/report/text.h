// Private to report: words and numbers as people read them, safe inside HTML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ockham::report {

/// For element content and quoted attributes: & < > " ' are replaced, and control characters become U+FFFD.
std::string escape_html(std::string_view text);

/// JSON for a <script> element: < > & become \u003c and so on, so that no "</script>" or "<!--" can end it.
std::string escape_script(std::string_view json);

/// "4051", "12,345".
std::string format_count(int64_t count);
/// With `decimals` decimals: "−12,345.60"; "–" when it is not finite.
std::string format_fixed(double value, int decimals);
/// With about four significant digits: "0.01234", "12,345", "1.2 × 10⁻⁷".
std::string format_number(double value);
/// "96.2 %", "> 99.9 %", "< 0.1 %".
std::string format_percent(double share);
/// "0.8 s", "2 min 11 s", "1 h 05 min".
std::string format_seconds(double seconds);

/// A metric's name for people: "rmse" is "RMSE", "ece@100" is "ECE, of 100 examples"; unknown ones stay, with spaces
/// for underscores. Not escaped.
std::string metric_title(const std::string& name);
/// Its value: accuracies as a percentage.
std::string format_metric(const std::string& name, double value);

}  // namespace ockham::report
