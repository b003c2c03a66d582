// Figures as SVG text: lines with bands, points, bars and maps, with axes, ticks and a legend.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ockham::paper {

enum class Scale { linear, logarithmic };

struct Axis {
  std::string label;
  Scale scale = Scale::linear;
  std::optional<double> first, last;  // the range; by default that of the data, a little wider
};

/// y against x; `lower` and `upper`, when given, are filled between. Values that are not finite break the line.
struct LineSeries {
  std::string name;  // in the legend; empty: not there
  std::vector<double> x, y;
  std::vector<double> lower, upper;
  bool dashed = false;
  int color = -1;  // of the palette; -1: the next one
};

/// Points; with `value` they are coloured by it, on the scale named `value_label`.
struct PointSeries {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> value;
  std::vector<std::string> label;  // shown when the pointer rests on a point
  int color = -1;
};

/// Groups of bars side by side, with error bars where `error` is given.
struct BarSeries {
  std::string name;
  std::vector<double> height, error;  // one for each category
};

/// Values on a grid, row by row from the lowest y, as a coloured picture behind everything else.
struct MapLayer {
  std::vector<double> x, y;
  std::vector<double> value;  // [y.size() * x.size()]
  std::string label;
  std::optional<double> first, last;  // the ends of the colour scale; by default those of the values
};

struct Plot {
  std::string title;
  Axis x, y;
  std::vector<std::string> categories;  // for bars: the places on the x axis
  std::vector<LineSeries> lines;
  std::vector<PointSeries> points;
  std::vector<BarSeries> bars;
  std::optional<MapLayer> map;
  std::string value_label;
  int width = 520, height = 360;
};

/// One plot, or several side by side in rows of `columns`.
std::string draw(const Plot& plot);
std::string draw(const std::vector<Plot>& plots, int columns);

}  // namespace ockham::paper
