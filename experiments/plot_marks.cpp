#include "experiments/plot_marks.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/plot_color.h"

namespace ockham::paper {
namespace {

constexpr int kMapLevels = 48;        // colours of a map; more make the text long and look the same
constexpr double kGroupShare = 0.78;  // of a category's place that its bars fill
constexpr double kOverlap = 0.35;     // pixels, so that no seam shows between the cells of a map
constexpr const char* kBandOpacity = "0.28";

std::string pair(double x, double y) { return page_number(x) + " " + page_number(y); }

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + page_number(value) + "\"";
}

std::string title_element(const std::string& text) {
  return text.empty() ? "" : "<title>" + escape_text(text) + "</title>";
}

}  // namespace

std::vector<double> cell_edges(const std::vector<double>& centres) {
  if (centres.empty()) return {};
  if (centres.size() == 1) return {centres[0] - 0.5, centres[0] + 0.5};
  std::vector<double> edges = {centres[0] - (centres[1] - centres[0]) / 2};
  for (size_t i = 1; i < centres.size(); ++i) edges.push_back((centres[i - 1] + centres[i]) / 2);
  const size_t last = centres.size() - 1;
  edges.push_back(centres[last] + (centres[last] - centres[last - 1]) / 2);
  return edges;
}

std::string draw_map(const Frame& frame, const MapLayer& map, const ColorScale& scale) {
  const std::vector<double> across = cell_edges(map.x), up = cell_edges(map.y);
  const size_t columns = map.x.size(), rows = map.y.size();
  if (columns == 0 || map.value.size() != rows * columns) return "";
  const auto level = [&](size_t row, size_t column) {
    const double fraction = scale.fraction(map.value[row * columns + column]);
    return std::isnan(fraction) ? -1 : static_cast<int>(std::clamp(fraction, 0.0, 1.0) * (kMapLevels - 1) + 0.5);
  };
  std::map<int, std::string> paths;  // one for each colour, of runs of cells
  for (size_t row = 0; row < rows; ++row)
    for (size_t begin = 0, end = 0; begin < columns; begin = end) {
      const int color = level(row, begin);
      while (end < columns && level(row, end) == color) ++end;
      if (color < 0) continue;
      const double left = frame.x.place(across[begin]), right = frame.x.place(across[end]) + kOverlap;
      const double bottom = frame.y.place(up[row]) + kOverlap, top = frame.y.place(up[row + 1]);
      paths[color] +=
          "M" + pair(left, top) + "H" + page_number(right) + "V" + page_number(bottom) + "H" + page_number(left) + "Z";
    }
  std::string out = "<g shape-rendering=\"crispEdges\">\n";
  for (const auto& [color, path] : paths)
    out += "<path fill=\"" + value_color(color / (kMapLevels - 1.0)) + "\" d=\"" + path + "\"/>\n";
  return out + "</g>\n";
}

std::string draw_band(const Frame& frame, const LineSeries& series, const std::string& color) {
  const size_t count = std::min({series.x.size(), series.lower.size(), series.upper.size()});
  std::string path;
  std::string back;
  const auto close = [&] {
    if (!back.empty()) path += back + "Z";
    back.clear();
  };
  for (size_t i = 0; i < count; ++i) {
    const double x = frame.x.place(series.x[i]);
    const double lower = frame.y.place(series.lower[i]), upper = frame.y.place(series.upper[i]);
    if (std::isnan(x) || std::isnan(lower) || std::isnan(upper)) {
      close();
      continue;
    }
    path += (back.empty() ? "M" : "L") + pair(x, upper);
    back = "L" + pair(x, lower) + back;
  }
  close();
  if (path.empty()) return "";
  return "<path fill=\"" + color + "\" fill-opacity=\"" + kBandOpacity + "\" d=\"" + path + "\"/>\n";
}

std::string draw_line(const Frame& frame, const LineSeries& series, const std::string& color) {
  std::string path, dots;
  size_t run = 0;
  std::string last;
  const auto end_run = [&] {
    if (run == 1) dots += "<circle r=\"1.5\" fill=\"" + color + "\"" + last + "/>\n";  // a line of one point
    run = 0;
  };
  for (size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    const double x = frame.x.place(series.x[i]), y = frame.y.place(series.y[i]);
    if (std::isnan(x) || std::isnan(y)) {
      end_run();
      continue;
    }
    const std::string here = attribute("cx", x) + attribute("cy", y);
    if (run > 0 && here == last) continue;
    path += (run == 0 ? "M" : "L") + pair(x, y);
    last = here;
    ++run;
  }
  end_run();
  if (path.empty()) return "";
  return "<path stroke=\"" + color + "\" stroke-width=\"1.8\" stroke-linejoin=\"round\" stroke-linecap=\"round\"" +
         (series.dashed ? " stroke-dasharray=\"6 5\"" : "") + " d=\"" + path + "\"/>\n" + dots;
}

std::string draw_points(const Frame& frame, const PointSeries& series, const std::string& color,
                        const ColorScale* scale, const std::string& edge) {
  const size_t count = std::min(series.x.size(), series.y.size());
  const double radius = count > 150 ? 2.6 : count > 40 ? 3.2 : 4.5;
  // The dark end of the colours would be lost on a dark page, the light one on a light page.
  const std::string rim = scale && !series.value.empty() ? "currentColor\" stroke-opacity=\"0.55" : edge;
  std::string out = "<g stroke=\"" + rim + "\" stroke-width=\"0.8\">\n";
  for (size_t i = 0; i < count; ++i) {
    const double x = frame.x.place(series.x[i]), y = frame.y.place(series.y[i]);
    if (std::isnan(x) || std::isnan(y)) continue;
    const bool valued = scale && i < series.value.size();
    const std::string fill = valued ? value_color(scale->fraction(series.value[i])) : color;
    const std::string title = i < series.label.size() ? title_element(series.label[i]) : "";
    out += "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) + " fill=\"" + fill + "\"" +
           (title.empty() ? "/>\n" : ">" + title + "</circle>\n");
  }
  return out + "</g>\n";
}

std::string draw_bars(const Frame& frame, const BarSeries& series, const std::string& color, size_t index,
                      size_t count) {
  const double base = std::clamp(frame.y.scale == Scale::linear ? 0.0 : frame.y.first, frame.y.first, frame.y.last);
  const double width = kGroupShare / static_cast<double>(count);
  std::string out;
  for (size_t i = 0; i < series.height.size(); ++i) {
    const double middle = static_cast<double>(i) + (static_cast<double>(index) + 0.5) * width - kGroupShare / 2;
    const double left = frame.x.place(middle - width * 0.46), right = frame.x.place(middle + width * 0.46);
    const double from = frame.y.place(base), to = frame.y.place(series.height[i]);
    if (std::isnan(to)) continue;
    out += "<rect" + attribute("x", left) + attribute("y", std::min(from, to)) + attribute("width", right - left) +
           attribute("height", std::abs(from - to)) + " fill=\"" + color + "\" fill-opacity=\"0.85\"/>\n";
    if (i >= series.error.size() || !(series.error[i] > 0)) continue;
    const double x = frame.x.place(middle), cap = std::min(4.0, (right - left) * 0.3);
    const double high = frame.y.place(series.height[i] + series.error[i]);
    double low = frame.y.place(series.height[i] - series.error[i]);
    if (std::isnan(low)) low = frame.y.place(frame.y.first);
    out += "<path stroke=\"currentColor\" stroke-width=\"1.3\" d=\"M" + pair(x, low) + "V" + page_number(high) + "M" +
           pair(x - cap, high) + "H" + page_number(x + cap) + "M" + pair(x - cap, low) + "H" + page_number(x + cap) +
           "\"/>\n";
  }
  return out;
}

}  // namespace ockham::paper
