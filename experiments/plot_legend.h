// Private to plot: which series has which colour, and the legend below the axes.
#pragma once

#include <string>
#include <vector>

#include "experiments/plot.h"

namespace ockham::paper {

/// One for each series of the plot, in its order.
struct SeriesColors {
  std::vector<std::string> lines, points, bars;
};
SeriesColors assign_colors(const Plot& plot);

struct LegendEntry {
  enum class Mark { line, dashed_line, band, line_with_band, point, bar };
  Mark mark = Mark::line;
  std::string name, color;
  double x = 0, y = 0;  // inside the legend
};

struct Legend {
  std::vector<LegendEntry> entries;
  double height = 0;
};

/// Named series, in rows of at most `width`; the same name and colour only once.
Legend make_legend(const Plot& plot, double width);
std::string draw_legend(const Legend& legend, double left, double top);

}  // namespace ockham::paper
