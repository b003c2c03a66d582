// Private to plot: what is drawn inside the axes, each as SVG text.
#pragma once

#include <string>
#include <vector>

#include "experiments/plot.h"
#include "experiments/plot_axis.h"

namespace ockham::paper {

struct Frame {
  AxisScale x, y;  // from values to the page
};

/// Values to 0 … 1 of the colours.
struct ColorScale {
  double first = 0, last = 1;
  std::string label;

  double fraction(double value) const { return (value - first) / (last - first); }
};

std::string draw_map(const Frame& frame, const MapLayer& map, const ColorScale& scale);
std::string draw_band(const Frame& frame, const LineSeries& series, const std::string& color);
std::string draw_line(const Frame& frame, const LineSeries& series, const std::string& color);
/// `edge`: the colour around each point, so that it is seen on a map.
std::string draw_points(const Frame& frame, const PointSeries& series, const std::string& color,
                        const ColorScale* scale, const std::string& edge);
/// Series `index` of `count`; category c is around x = c.
std::string draw_bars(const Frame& frame, const BarSeries& series, const std::string& color, size_t index,
                      size_t count);

/// The edges between cells around `centres`, one more than they are: half-way, and as far again outside.
std::vector<double> cell_edges(const std::vector<double>& centres);

}  // namespace ockham::paper
