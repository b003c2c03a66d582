// Private to plot: the range of an axis, its round ticks, and where a value lies on the page.
#pragma once

#include <string>
#include <vector>

#include "experiments/plot.h"

namespace ockham::paper {

/// The smallest interval around finite values; on a logarithmic scale those above 0 only.
class DataRange {
 public:
  explicit DataRange(Scale scale) : scale_(scale) {}

  void include(double value);
  void include(const std::vector<double>& values);
  /// With `padding` of its length added on both sides, and what `axis` fixes. Empty data give 0 … 1 (1 … 10), a single
  /// value an interval around it.
  std::pair<double, double> resolve(const Axis& axis, double padding) const;

 private:
  Scale scale_;
  bool empty_ = true;
  double first_ = 0, last_ = 0;
};

struct Tick {
  double value = 0;
  std::string label;  // SVG text content: "0.5", "−2", "10<tspan …>−3</tspan>"; empty for a small tick
  double width = 0;   // of the label, in ems
};

/// Maps [first, last] to pages' [begin, end].
struct AxisScale {
  Scale scale = Scale::linear;
  double first = 0, last = 1;
  double begin = 0, end = 1;

  double place(double value) const;     // NaN for what has no place: not finite, or not positive on a logarithmic scale
  double fraction(double value) const;  // 0 at first, 1 at last
};

/// Round values in [first, last]: multiples of 1, 2 or 5 · 10^k, about `wanted` of them; on a logarithmic scale powers
/// of ten with small ticks between, and 1, 2, 5 (or linear ones) when the range has few of them.
std::vector<Tick> make_ticks(Scale scale, double first, double last, int wanted);

/// Ems that a sans-serif font needs, roughly.
double text_width(const std::string& text);
/// For element content and attributes; control characters become U+FFFD.
std::string escape_text(const std::string& text);
/// A coordinate: two decimals, without trailing zeros.
std::string page_number(double value);

}  // namespace ockham::paper
