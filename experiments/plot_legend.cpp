#include "experiments/plot_legend.h"

#include <algorithm>

#include "experiments/plot_axis.h"
#include "experiments/plot_color.h"

namespace ockham::paper {
namespace {

constexpr double kFontSize = 12, kRow = 20, kSwatch = 24, kSpace = 18;

LegendEntry::Mark mark_of(const LineSeries& series) {
  const bool band = !series.lower.empty();
  if (series.y.empty() && band) return LegendEntry::Mark::band;
  if (band) return LegendEntry::Mark::line_with_band;
  return series.dashed ? LegendEntry::Mark::dashed_line : LegendEntry::Mark::line;
}

void add(Legend& legend, LegendEntry::Mark mark, const std::string& name, const std::string& color) {
  if (name.empty()) return;
  for (const LegendEntry& entry : legend.entries)
    if (entry.name == name && entry.color == color) return;
  legend.entries.push_back({mark, name, color, 0, 0});
}

std::string draw_mark(const LegendEntry& entry, double x, double y) {
  const std::string left = page_number(x), right = page_number(x + kSwatch), middle = page_number(y);
  const std::string band = "<rect x=\"" + left + "\" y=\"" + page_number(y - 6) + "\" width=\"" + page_number(kSwatch) +
                           "\" height=\"12\" fill=\"" + entry.color + "\" fill-opacity=\"";
  const std::string line = "<path stroke=\"" + entry.color + "\" stroke-width=\"1.8\"" +
                           (entry.mark == LegendEntry::Mark::dashed_line ? " stroke-dasharray=\"6 4\"" : "") +
                           " d=\"M" + left + " " + middle + "H" + right + "\"/>\n";
  switch (entry.mark) {
    case LegendEntry::Mark::line:
    case LegendEntry::Mark::dashed_line:
      return line;
    case LegendEntry::Mark::band:
      return band + "0.28\"/>\n";
    case LegendEntry::Mark::line_with_band:
      return band + "0.28\"/>\n" + line;
    case LegendEntry::Mark::point:
      return "<circle cx=\"" + page_number(x + kSwatch / 2) + "\" cy=\"" + middle + "\" r=\"4\" fill=\"" + entry.color +
             "\"/>\n";
    case LegendEntry::Mark::bar:
      return band + "0.85\"/>\n";
  }
  return "";
}

}  // namespace

SeriesColors assign_colors(const Plot& plot) {
  SeriesColors colors;
  int next = 0;
  const auto pick = [&](int color) { return series_color(color >= 0 ? color : next++); };
  for (const LineSeries& series : plot.lines) colors.lines.push_back(pick(series.color));
  for (const PointSeries& series : plot.points)  // a point that is coloured by its value needs none
    colors.points.push_back(series.value.empty() ? pick(series.color) : value_color(0.5));
  for (size_t i = 0; i < plot.bars.size(); ++i) colors.bars.push_back(pick(-1));
  return colors;
}

Legend make_legend(const Plot& plot, double width) {
  Legend legend;
  const SeriesColors colors = assign_colors(plot);
  for (size_t i = 0; i < plot.lines.size(); ++i)
    add(legend, mark_of(plot.lines[i]), plot.lines[i].name, colors.lines[i]);
  for (size_t i = 0; i < plot.points.size(); ++i)
    add(legend, LegendEntry::Mark::point, plot.points[i].name, colors.points[i]);
  for (size_t i = 0; i < plot.bars.size(); ++i) add(legend, LegendEntry::Mark::bar, plot.bars[i].name, colors.bars[i]);
  double x = 0, y = 0;
  for (LegendEntry& entry : legend.entries) {
    const double needed = kSwatch + 6 + text_width(entry.name) * kFontSize;
    if (x > 0 && x + needed > width) x = 0, y += kRow;
    entry.x = x, entry.y = y;
    x += needed + kSpace;
  }
  legend.height = legend.entries.empty() ? 0 : y + kRow + 6;
  return legend;
}

std::string draw_legend(const Legend& legend, double left, double top) {
  std::string out;
  for (const LegendEntry& entry : legend.entries) {
    const double x = left + entry.x, y = top + entry.y + kRow / 2;
    out += draw_mark(entry, x, y) + "<text x=\"" + page_number(x + kSwatch + 6) + "\" y=\"" + page_number(y + 4) +
           "\" font-size=\"" + page_number(kFontSize) + "\" fill=\"currentColor\">" + escape_text(entry.name) +
           "</text>\n";
  }
  return out;
}

}  // namespace ockham::paper
