#include "experiments/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "experiments/plot_axis.h"
#include "experiments/plot_color.h"
#include "experiments/plot_legend.h"
#include "experiments/plot_marks.h"

namespace ockham::paper {
namespace {

constexpr double kPadding = 0.04, kGap = 18, kTickSize = 11, kLabelSize = 12, kTitleSize = 13, kScaleWidth = 12;

std::string text_element(double x, double y, const std::string& content, const std::string& attributes) {
  return "<text x=\"" + page_number(x) + "\" y=\"" + page_number(y) + "\"" + attributes + ">" + content + "</text>\n";
}

std::string size_attribute(double size) { return " font-size=\"" + page_number(size) + "\""; }

// Everything about a panel that must be known before anything is drawn.
struct Panel {
  const Plot* plot = nullptr;
  Frame frame;
  std::vector<Tick> x_ticks, y_ticks;
  std::vector<ColorScale> scales;  // of the map, then of the points
  bool map_scaled = false, points_scaled = false;
  bool turned = false;  // category names at an angle
  Legend legend;
  double left = 0, top = 0, right = 0, bottom = 0;  // of the data, inside the panel
  double axis_end = 0;                              // where the legend may begin
  double height = 0;                                // with the legend
};

bool has_values(const Plot& plot) {
  return std::any_of(plot.points.begin(), plot.points.end(), [](const auto& series) { return !series.value.empty(); });
}

std::pair<double, double> x_range(const Plot& plot) {
  if (!plot.categories.empty() || !plot.bars.empty()) {
    size_t places = plot.categories.size();
    for (const BarSeries& series : plot.bars) places = std::max(places, series.height.size());
    return {-0.5, std::max<double>(static_cast<double>(places), 1) - 0.5};
  }
  DataRange range(plot.x.scale);
  if (plot.map) range.include(cell_edges(plot.map->x));
  for (const LineSeries& series : plot.lines) range.include(series.x);
  for (const PointSeries& series : plot.points) range.include(series.x);
  return range.resolve(plot.x, plot.map ? 0 : kPadding);
}

std::pair<double, double> y_range(const Plot& plot) {
  DataRange range(plot.y.scale);
  if (plot.map) range.include(cell_edges(plot.map->y));
  for (const LineSeries& series : plot.lines)
    range.include(series.y), range.include(series.lower), range.include(series.upper);
  for (const PointSeries& series : plot.points) range.include(series.y);
  bool above = true, below = true;
  for (const BarSeries& series : plot.bars)
    for (size_t i = 0; i < series.height.size(); ++i) {
      const double error = i < series.error.size() && std::isfinite(series.error[i]) ? series.error[i] : 0;
      range.include(series.height[i] - error), range.include(series.height[i] + error);
      above &= !(series.height[i] < 0), below &= !(series.height[i] > 0);
    }
  Axis axis = plot.y;
  if (!plot.bars.empty() && plot.y.scale == Scale::linear) {  // bars stand on 0, unless the axis says otherwise
    range.include(0);
    if (above && !axis.first) axis.first = 0;
    if (below && !above && !axis.last) axis.last = 0;
  }
  return range.resolve(axis, plot.map ? 0 : kPadding);
}

ColorScale scale_of(const std::vector<double>& values, const std::string& label, const std::optional<double>& first,
                    const std::optional<double>& last) {
  DataRange range(Scale::linear);
  range.include(values);
  const auto [low, high] = range.resolve({"", Scale::linear, first, last}, 0);
  return {low, high, label};
}

void find_scales(Panel& panel) {
  const Plot& plot = *panel.plot;
  if (plot.map) {
    const MapLayer& map = *plot.map;
    panel.scales.push_back(scale_of(map.value, map.label, map.first, map.last));
    panel.map_scaled = true;
  }
  if (has_values(plot)) {
    std::vector<double> values;
    for (const PointSeries& series : plot.points) values.insert(values.end(), series.value.begin(), series.value.end());
    panel.scales.push_back(scale_of(values, plot.value_label, {}, {}));
    panel.points_scaled = true;
  }
}

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, tick.width);
  return width * kTickSize;
}

std::vector<Tick> scale_ticks(const ColorScale& scale) { return make_ticks(Scale::linear, scale.first, scale.last, 5); }

double scale_room(const ColorScale& scale) {
  return 12 + kScaleWidth + 6 + widest(scale_ticks(scale)) + (scale.label.empty() ? 0 : kLabelSize + 8);
}

Panel measure(const Plot& plot) {
  Panel panel;
  panel.plot = &plot;
  find_scales(panel);
  const auto [x_first, x_last] = x_range(plot);
  const auto [y_first, y_last] = y_range(plot);
  panel.top = plot.title.empty() ? 10 : 30;
  panel.y_ticks = make_ticks(plot.y.scale, y_first, y_last, std::max(2, plot.height / 65));
  // Half a pixel: a line of one pixel is then sharp.
  panel.left = std::floor(14 + widest(panel.y_ticks) + (plot.y.label.empty() ? 0 : kLabelSize + 8)) + 0.5;
  panel.right = plot.width - 12;
  for (const ColorScale& scale : panel.scales) panel.right -= scale_room(scale);
  double names = kTickSize + 8;
  if (plot.categories.empty()) {
    panel.x_ticks = make_ticks(plot.x.scale, x_first, x_last, std::max(2, plot.width / 85));
    const AxisScale along{plot.x.scale, x_first, x_last, 0, 1};
    for (const Tick& tick : panel.x_ticks)  // the label of a tick at the end stays on the page
      if (panel.scales.empty() && along.place(tick.value) > 0.96)
        panel.right = std::min(panel.right, plot.width - 2 - tick.width * kTickSize / 2);
  } else {
    double width = 0;
    for (const std::string& name : plot.categories) width = std::max(width, text_width(name) * kTickSize);
    panel.turned = width > (panel.right - panel.left) / static_cast<double>(plot.categories.size()) - 4;
    if (panel.turned) names = std::min(width, 220.0) * 0.58 + kTickSize + 6;
  }
  panel.axis_end = plot.height;
  panel.bottom = std::floor(plot.height - names - (plot.x.label.empty() ? 4 : kLabelSize + 12)) + 0.5;
  panel.frame.x = {plot.categories.empty() && plot.bars.empty() ? plot.x.scale : Scale::linear, x_first, x_last,
                   panel.left, panel.right};
  panel.frame.y = {plot.y.scale, y_first, y_last, panel.bottom, panel.top};
  panel.legend = make_legend(plot, plot.width - 24);
  panel.height = plot.height + panel.legend.height;
  return panel;
}

std::string draw_grid(const Panel& panel) {
  std::string lines;
  for (const Tick& tick : panel.x_ticks)
    if (!tick.label.empty())
      lines += "M" + page_number(panel.frame.x.place(tick.value)) + " " + page_number(panel.top) + "V" +
               page_number(panel.bottom);
  for (const Tick& tick : panel.y_ticks)
    if (!tick.label.empty())
      lines += "M" + page_number(panel.left) + " " + page_number(panel.frame.y.place(tick.value)) + "H" +
               page_number(panel.right);
  return lines.empty() ? "" : "<path stroke=\"currentColor\" stroke-opacity=\"0.13\" d=\"" + lines + "\"/>\n";
}

std::string draw_axes(const Panel& panel) {
  const Plot& plot = *panel.plot;
  std::string marks = "M" + page_number(panel.left) + " " + page_number(panel.top) + "V" + page_number(panel.bottom) +
                      "H" + page_number(panel.right);
  std::string out;
  for (const Tick& tick : panel.x_ticks) {
    const double x = panel.frame.x.place(tick.value);
    marks += "M" + page_number(x) + " " + page_number(panel.bottom) + "v" + (tick.label.empty() ? "3" : "5");
    if (!tick.label.empty())
      out += text_element(x, panel.bottom + 17, tick.label, size_attribute(kTickSize) + " text-anchor=\"middle\"");
  }
  for (size_t i = 0; i < plot.categories.size(); ++i) {
    const double x = panel.frame.x.place(static_cast<double>(i)), y = panel.bottom + (panel.turned ? 13 : 17);
    const std::string turn =
        " text-anchor=\"end\" transform=\"rotate(-35 " + page_number(x) + " " + page_number(y) + ")\"";
    out += text_element(x, y, escape_text(plot.categories[i]),
                        size_attribute(kTickSize) + (panel.turned ? turn : " text-anchor=\"middle\""));
  }
  for (const Tick& tick : panel.y_ticks) {
    const double y = panel.frame.y.place(tick.value);
    marks += "M" + page_number(panel.left) + " " + page_number(y) + "h-" + (tick.label.empty() ? "3" : "5");
    if (!tick.label.empty())
      out += text_element(panel.left - 8, y + 4, tick.label, size_attribute(kTickSize) + " text-anchor=\"end\"");
  }
  out =
      "<path stroke=\"currentColor\" stroke-opacity=\"0.75\" d=\"" + marks + "\"/>\n<g fill=\"currentColor\">\n" + out;
  const double middle = (panel.left + panel.right) / 2, half = (panel.top + panel.bottom) / 2;
  if (!plot.x.label.empty())
    out += text_element(middle, panel.axis_end - 8, escape_text(plot.x.label),
                        size_attribute(kLabelSize) + " text-anchor=\"middle\"");
  if (!plot.y.label.empty())
    out += text_element(
        14, half, escape_text(plot.y.label),
        size_attribute(kLabelSize) + " text-anchor=\"middle\" transform=\"rotate(-90 14 " + page_number(half) + ")\"");
  if (!plot.title.empty())
    out += text_element(middle, 18, escape_text(plot.title),
                        size_attribute(kTitleSize) + " font-weight=\"600\" text-anchor=\"middle\"");
  return out + "</g>\n";
}

std::string draw_color_scale(const Panel& panel, const ColorScale& scale, double left) {
  constexpr int kSteps = 48;
  const AxisScale up{Scale::linear, scale.first, scale.last, panel.bottom, panel.top};
  const double step = (panel.bottom - panel.top) / kSteps;
  std::string out;
  for (int i = 0; i < kSteps; ++i)
    out += "<rect x=\"" + page_number(left) + "\" y=\"" + page_number(panel.bottom - (i + 1) * step) + "\" width=\"" +
           page_number(kScaleWidth) + "\" height=\"" + page_number(step + (i ? 0.4 : 0)) + "\" fill=\"" +
           value_color(i / (kSteps - 1.0)) + "\"/>\n";
  const std::vector<Tick> ticks = scale_ticks(scale);
  const double right = left + kScaleWidth;
  out += "<g fill=\"currentColor\">\n";
  for (const Tick& tick : ticks)
    out += text_element(right + 5, up.place(tick.value) + 4, tick.label, size_attribute(kTickSize));
  if (!scale.label.empty()) {
    const double x = right + 5 + widest(ticks) + kLabelSize + 4, y = (panel.top + panel.bottom) / 2;
    out += text_element(x, y, escape_text(scale.label),
                        size_attribute(kLabelSize) + " text-anchor=\"middle\" transform=\"rotate(-90 " +
                            page_number(x) + " " + page_number(y) + ")\"");
  }
  return out + "</g>\n";
}

std::string draw_marks(const Panel& panel) {
  const Plot& plot = *panel.plot;
  const SeriesColors colors = assign_colors(plot);
  std::string out;
  if (plot.map) out += draw_map(panel.frame, *plot.map, panel.scales.front());
  for (size_t i = 0; i < plot.bars.size(); ++i)
    out += draw_bars(panel.frame, plot.bars[i], colors.bars[i], i, plot.bars.size());
  for (size_t i = 0; i < plot.lines.size(); ++i) out += draw_band(panel.frame, plot.lines[i], colors.lines[i]);
  for (size_t i = 0; i < plot.lines.size(); ++i) out += draw_line(panel.frame, plot.lines[i], colors.lines[i]);
  const ColorScale* scale = panel.points_scaled ? &panel.scales.back() : nullptr;
  for (size_t i = 0; i < plot.points.size(); ++i)
    out += draw_points(panel.frame, plot.points[i], colors.points[i], scale, plot.map ? "#fff" : "none");
  return out;
}

// Ids are shared by a whole page: the same text has the same id, and then the same meaning.
std::string make_id(const std::string& content) {
  uint64_t hash = 1469598103934665603u;
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string id = "clip-";
  for (int i = 0; i < 16; ++i) id += "0123456789abcdef"[(hash >> (4 * i)) & 15];
  return id;
}

std::string draw_panel(const Panel& panel, double x, double y) {
  const std::string area = "<rect x=\"" + page_number(panel.left) + "\" y=\"" + page_number(panel.top) + "\" width=\"" +
                           page_number(panel.right - panel.left) + "\" height=\"" +
                           page_number(panel.bottom - panel.top) + "\"/>";
  const std::string marks = draw_marks(panel), id = make_id(area + marks);
  std::string out = "<g transform=\"translate(" + page_number(x) + " " + page_number(y) + ")\">\n";
  out += "<clipPath id=\"" + id + "\">" + area + "</clipPath>\n";
  if (!panel.plot->map) out += draw_grid(panel);
  out += "<g clip-path=\"url(#" + id + ")\">\n" + marks + "</g>\n" + draw_axes(panel);
  double left = panel.right + 12;
  for (const ColorScale& scale : panel.scales) out += draw_color_scale(panel, scale, left), left += scale_room(scale);
  return out + draw_legend(panel.legend, 12, panel.axis_end + 4) + "</g>\n";
}

}  // namespace

std::string draw(const Plot& plot) { return draw(std::vector<Plot>{plot}, 1); }

std::string draw(const std::vector<Plot>& plots, int columns) {
  const size_t in_row = static_cast<size_t>(std::max(columns, 1));
  std::vector<Panel> panels;
  for (const Plot& plot : plots) panels.push_back(measure(plot));
  double width = 0, y = 0;
  std::string body, name;
  for (size_t begin = 0; begin < panels.size(); begin += in_row) {
    double x = 0, height = 0;
    for (size_t i = begin; i < std::min(begin + in_row, panels.size()); ++i) {
      body += draw_panel(panels[i], x, y);
      x += plots[i].width + kGap;
      height = std::max(height, panels[i].height);
      if (!plots[i].title.empty()) name += (name.empty() ? "" : "; ") + plots[i].title;
    }
    width = std::max(width, x - kGap);
    y += height + kGap;
  }
  const std::string w = page_number(std::max(width, 1.0)), h = page_number(std::max(y - kGap, 1.0));
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h + "\" width=\"" + w + "\" height=\"" +
         h + "\" role=\"img\" aria-label=\"" + escape_text(name.empty() ? "Plot" : name) +
         "\" fill=\"none\" style=\"max-width:100%;height:auto\" font-family=\"system-ui, -apple-system, 'Segoe UI', "
         "Roboto, Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n" +
         body + "</svg>\n";
}

}  // namespace ockham::paper
