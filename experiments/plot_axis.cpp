#include "experiments/plot_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ockham::paper {
namespace {

constexpr double kSlack = 1e-9;  // of a step: a tick at the end of the range belongs to it

std::string with_minus(std::string digits) {
  if (!digits.empty() && digits[0] == '-') digits.replace(0, 1, "−");
  return digits;
}

std::string with_commas(std::string digits) {
  const size_t point = std::min(digits.find('.'), digits.size()), start = digits[0] == '-' ? 1 : 0;
  if (point - start <= 4) return digits;
  for (size_t i = point; i > start + 3;) digits.insert(i -= 3, ",");
  return digits;
}

Tick power_tick(double value, double mantissa, int exponent) {
  const std::string power = with_minus(std::to_string(exponent));
  const std::string head = mantissa == 1 ? "10" : with_minus(fmt::format("{:g}", mantissa)) + "·10";
  return {value, head + "<tspan dy=\"-0.45em\" font-size=\"78%\">" + power + "</tspan>",
          text_width(head) + 0.78 * text_width(power)};
}

Tick plain_tick(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (std::strtod(text.c_str(), nullptr) == 0) text = fmt::format("{:.{}f}", 0.0, decimals);
  text = with_minus(with_commas(text));
  return {value, text, text_width(text)};
}

std::vector<Tick> linear_ticks(double first, double last, int wanted) {
  const double raw = (last - first) / std::max(wanted, 1);
  int exponent = static_cast<int>(std::floor(std::log10(raw)));
  const double mantissa = raw / std::pow(10, exponent);
  const double round = mantissa < 1.5 ? 1 : mantissa < 3.5 ? 2 : mantissa < 7.5 ? 5 : 10;
  const double step = round * std::pow(10, exponent);
  if (round == 10) ++exponent;
  const double largest = std::max(std::abs(first), std::abs(last));
  const bool powers = largest >= 1e7 || largest < 1e-4;
  std::vector<Tick> ticks;
  for (double i = std::ceil(first / step - kSlack); i <= last / step + kSlack; ++i) {
    const double value = i * step;
    if (!powers || i == 0) {
      ticks.push_back(plain_tick(value, std::max(0, i == 0 && powers ? 0 : -exponent)));
      continue;
    }
    const int order = static_cast<int>(std::floor(std::log10(largest)));
    const double shown = std::round(value / std::pow(10, order) * 1e6) / 1e6;
    ticks.push_back(power_tick(value, shown, order));
  }
  return ticks;
}

std::vector<Tick> logarithmic_ticks(double first, double last, int wanted) {
  const double decades = std::log10(last / first);
  const int lowest = static_cast<int>(std::floor(std::log10(first) + kSlack));
  const int highest = static_cast<int>(std::ceil(std::log10(last) - kSlack));
  if (decades < 0.7) return linear_ticks(first, last, wanted);
  const int stride = std::max(1, static_cast<int>(std::ceil((highest - lowest) / std::max(1.0, wanted * 1.3))));
  const bool powers = lowest < -3 || highest > 4;
  std::vector<Tick> ticks;
  for (int exponent = lowest; exponent <= highest; ++exponent)
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * std::pow(10, exponent);
      if (value < first * (1 - kSlack) || value > last * (1 + kSlack)) continue;
      const bool labelled = digit == 1 ? exponent % stride == 0 : decades < 2 && (digit == 2 || digit == 5);
      if (!labelled && digit > 1 && stride > 1) continue;
      if (!labelled)
        ticks.push_back({value, "", 0});
      else if (powers)
        ticks.push_back(power_tick(value, digit, exponent));
      else
        ticks.push_back(plain_tick(value, std::max(0, -exponent)));
    }
  return ticks;
}

}  // namespace

void DataRange::include(double value) {
  if (!std::isfinite(value) || (scale_ == Scale::logarithmic && value <= 0)) return;
  first_ = empty_ ? value : std::min(first_, value);
  last_ = empty_ ? value : std::max(last_, value);
  empty_ = false;
}

void DataRange::include(const std::vector<double>& values) {
  for (const double value : values) include(value);
}

std::pair<double, double> DataRange::resolve(const Axis& axis, double padding) const {
  const bool logarithmic = scale_ == Scale::logarithmic;
  double first = empty_ ? (logarithmic ? 1 : 0) : first_, last = empty_ ? (logarithmic ? 10 : 1) : last_;
  const auto fixed = [&](const std::optional<double>& end) {
    return end && std::isfinite(*end) && (!logarithmic || *end > 0);
  };
  if (fixed(axis.first)) first = *axis.first;
  if (fixed(axis.last)) last = *axis.last;
  if (logarithmic) first = std::log10(first), last = std::log10(last);
  if (!(last > first)) {
    const double middle = fixed(axis.last) ? last : first, half = logarithmic ? 0.5 : std::abs(middle) * 0.1 + 1e-12;
    const double room = middle == 0 && !logarithmic ? 1 : half;
    if (!fixed(axis.first)) first = middle - room;
    if (!fixed(axis.last)) last = first + 2 * room;
    if (!(last > first)) last = first + room;
  } else {
    const double room = (last - first) * padding;
    if (!fixed(axis.first)) first -= room;
    if (!fixed(axis.last)) last += room;
  }
  if (logarithmic) first = std::pow(10, first), last = std::pow(10, last);
  return {first, last};
}

double AxisScale::fraction(double value) const {
  if (!std::isfinite(value)) return NAN;
  if (scale == Scale::linear) return (value - first) / (last - first);
  return value > 0 ? std::log(value / first) / std::log(last / first) : NAN;
}

double AxisScale::place(double value) const {
  // Beyond the page by its own length is as good as anywhere there, and SVG readers stay exact.
  const double along = fraction(value);
  return std::isnan(along) ? NAN : begin + std::clamp(along, -4.0, 5.0) * (end - begin);
}

std::vector<Tick> make_ticks(Scale scale, double first, double last, int wanted) {
  if (!(last > first)) return {};
  return scale == Scale::linear ? linear_ticks(first, last, wanted) : logarithmic_ticks(first, last, wanted);
}

double text_width(const std::string& text) {
  double width = 0;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // the rest of a letter
    if (std::string("ijl.,:;|'!I").find(c) != std::string::npos)
      width += 0.29;
    else if (std::string("ftr()[]- /\"").find(c) != std::string::npos)
      width += 0.37;
    else if (std::string("mwMW@%").find(c) != std::string::npos)
      width += 0.88;
    else if (c >= 'A' && c <= 'Z')
      width += 0.68;
    else
      width += byte >= 0x80 ? 0.62 : 0.57;
  }
  return width;
}

std::string escape_text(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
          out += "\xEF\xBF\xBD";
        else
          out += c;
    }
  return out;
}

std::string page_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace ockham::paper
