#include "experiments/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "experiments/plot_axis.h"
#include "experiments/plot_color.h"
#include "experiments/plot_marks.h"
#include "tests/experiments/well_formed.h"

namespace ockham::paper {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

void expect_figure(const std::string& text) { EXPECT_EQ(testing::expect_well_formed(text), "\n"); }

Plot busy_plot() {
  Plot plot;
  plot.title = "a <b> & \"c\" 'd'";
  plot.x.label = "x & more";
  plot.y.label = "<y>";
  plot.lines = {{"line </text>", {0, 1, 2}, {1, 2, 3}, {0, 1, 2}, {2, 3, 4}, true, -1}};
  plot.points = {{"points", {0.5, 1.5}, {1, 2}, {10, 20}, {"first <1>", "second"}, -1}};
  plot.value_label = "value & unit";
  plot.map = MapLayer{{0, 1, 2}, {0, 1, 2, 3, 4}, std::vector<double>(15, 0.5), "p", 0, 1};
  return plot;
}

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks)
    if (!tick.label.empty()) out.push_back(tick.label);
  return out;
}

TEST(Plot, IsWellFormedAndEscaped) {
  const std::string svg = draw(busy_plot());
  expect_figure(svg);
  EXPECT_NE(svg.find("a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;"), std::string::npos);
  EXPECT_NE(svg.find("<title>first &lt;1&gt;</title>"), std::string::npos);
  EXPECT_EQ(svg.find("</text>\n</text>"), std::string::npos);
  EXPECT_EQ(svg.rfind("<svg xmlns=", 0), 0u);
  EXPECT_NE(svg.find("viewBox=\"0 0 520 "), std::string::npos);
  EXPECT_NE(svg.find("currentColor"), std::string::npos);
}

TEST(Plot, IsTheSameTextEveryTime) { EXPECT_EQ(draw(busy_plot()), draw(busy_plot())); }

TEST(Plot, PanelsStandSideBySide) {
  Plot plot = busy_plot();
  plot.width = 300, plot.height = 200;
  const std::string svg = draw({plot, plot, plot}, 2);
  expect_figure(svg);
  EXPECT_EQ(count(svg, "<g transform=\"translate(0 0)\">"), 1u);
  EXPECT_EQ(count(svg, "<g transform=\"translate(318 0)\">"), 1u);
  EXPECT_EQ(count(svg, "viewBox=\"0 0 618 "), 1u);
}

TEST(Plot, EmptyAndOddInputsAreDrawn) {
  expect_figure(draw(Plot()));
  expect_figure(draw(std::vector<Plot>(), 3));
  Plot plot;
  plot.x.scale = plot.y.scale = Scale::logarithmic;
  plot.lines = {{"", {0, -1, NAN}, {INFINITY, 0, 1}, {}, {}, false, -1}};
  plot.points = {{"alone", {1}, {5}, {}, {}, 70}};
  expect_figure(draw(plot));
  plot.map = MapLayer{{0, 1}, {0, 1}, {1, 2, 3}, "", {}, {}};  // a value is missing
  expect_figure(draw(plot));
}

TEST(Plot, LinesBreakWhereAValueIsNotFinite) {
  const Frame frame{{Scale::linear, 0, 4, 0, 40}, {Scale::linear, 0, 10, 100, 0}};
  const std::string line = draw_line(frame, {"", {0, 1, 2, 3, 4}, {0, 5, NAN, 10, 0}, {}, {}, false, 0}, "#123456");
  EXPECT_NE(line.find("d=\"M0 100L10 50M30 0L40 100\""), std::string::npos) << line;
  const std::string lonely = draw_line(frame, {"", {0, 1, 2}, {NAN, 5, NAN}, {}, {}, false, 0}, "#123456");
  EXPECT_EQ(count(lonely, "<circle"), 1u) << lonely;
  const std::string band = draw_band(frame, {"", {0, 1, 2, 3}, {}, {0, 0, NAN, 0}, {10, 10, 10, 5}, false, 0}, "#1");
  EXPECT_NE(band.find("M0 0L10 0L10 100L0 100ZM30 50L30 100Z"), std::string::npos) << band;
}

TEST(Plot, ValuesLieWhereTheAxisSaysSo) {
  const AxisScale linear{Scale::linear, -1, 3, 10, 50};
  EXPECT_DOUBLE_EQ(linear.place(1), 30);
  const AxisScale logarithmic{Scale::logarithmic, 0.01, 100, 0, 40};
  EXPECT_NEAR(logarithmic.place(1), 20, 1e-12);
  EXPECT_NEAR(logarithmic.place(10), 30, 1e-12);
  EXPECT_TRUE(std::isnan(logarithmic.place(0)));
  EXPECT_TRUE(std::isnan(logarithmic.place(-1)));
  EXPECT_TRUE(std::isnan(linear.place(INFINITY)));
}

TEST(Plot, RangesHoldTheDataAndWhatIsFixed) {
  DataRange range(Scale::linear);
  range.include({1, NAN, 3, -INFINITY});
  EXPECT_EQ(range.resolve({}, 0), (std::pair<double, double>{1, 3}));
  EXPECT_EQ(range.resolve({}, 0.5), (std::pair<double, double>{0, 4}));
  EXPECT_EQ(range.resolve({"", Scale::linear, 0, {}}, 0), (std::pair<double, double>{0, 3}));
  EXPECT_EQ(DataRange(Scale::linear).resolve({}, 0.1), (std::pair<double, double>{-0.1, 1.1}));
  for (const Scale scale : {Scale::linear, Scale::logarithmic})
    for (const double only : {5.0, 1e-9, 1e12}) {
      DataRange single(scale);
      single.include(only);
      const auto [first, last] = single.resolve({}, 0.04);
      EXPECT_LT(first, only);
      EXPECT_GT(last, only);
    }
  DataRange logarithmic(Scale::logarithmic);
  logarithmic.include({-5, 0, 1, 100});
  const auto [first, last] = logarithmic.resolve({}, 0.5);
  EXPECT_NEAR(first, 0.1, 1e-9);
  EXPECT_NEAR(last, 1000, 1e-6);
}

TEST(Plot, TicksAreRound) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(make_ticks(Scale::linear, 0, 1, 5)), (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(make_ticks(Scale::linear, -1.2, 1.1, 4)), (Labels{"−1.0", "−0.5", "0.0", "0.5", "1.0"}));
  EXPECT_EQ(labels(make_ticks(Scale::linear, -31000, 1000, 3)), (Labels{"−30,000", "−20,000", "−10,000", "0"}));
  EXPECT_EQ(labels(make_ticks(Scale::logarithmic, 0.1, 100, 4)), (Labels{"0.1", "1", "10", "100"}));
  EXPECT_EQ(labels(make_ticks(Scale::logarithmic, 1, 10, 4)), (Labels{"1", "2", "5", "10"}));
  EXPECT_EQ(make_ticks(Scale::logarithmic, 0.1, 100, 4).size(), 28u);  // small ones between
  const Labels powers = labels(make_ticks(Scale::logarithmic, 1e-6, 1e6, 4));
  ASSERT_FALSE(powers.empty());
  EXPECT_NE(powers.front().find("10<tspan"), std::string::npos);
  EXPECT_NE(labels(make_ticks(Scale::linear, 0, 4e8, 4)).back().find("·10<tspan"), std::string::npos);
  EXPECT_TRUE(make_ticks(Scale::linear, 1, 1, 4).empty());
}

TEST(Plot, BarsStandOnZeroWithTheirErrors) {
  Plot plot;
  plot.categories = {"a", "b"};
  plot.bars = {{"one", {1, 2}, {0.1, 0.2}}, {"two", {NAN, 4}, {}}};
  const std::string svg = draw(plot);
  expect_figure(svg);
  const Frame frame{{Scale::linear, -0.5, 1.5, 0, 200}, {Scale::linear, 0, 4, 100, 0}};
  const std::string bars = draw_bars(frame, plot.bars[0], "#1", 0, 2);
  EXPECT_EQ(count(bars, "<rect"), 2u);
  EXPECT_EQ(count(bars, "<path"), 2u);
  EXPECT_NE(bars.find("y=\"75\""), std::string::npos) << bars;
  EXPECT_NE(bars.find("height=\"25\""), std::string::npos) << bars;
  EXPECT_EQ(count(draw_bars(frame, plot.bars[1], "#1", 1, 2), "<rect"), 1u);
}

TEST(Plot, MapsJoinCellsOfOneColour) {
  EXPECT_EQ(cell_edges({0, 1, 3}), (std::vector<double>{-0.5, 0.5, 2, 4}));
  const Frame frame{{Scale::linear, -0.5, 2.5, 0, 30}, {Scale::linear, -0.5, 0.5, 10, 0}};
  const std::string map = draw_map(frame, {{0, 1, 2}, {0}, {0, 0, 1}, "", {}, {}}, {0, 1, ""});
  EXPECT_EQ(count(map, "<path"), 2u);
  EXPECT_NE(map.find("fill=\"" + value_color(0) + "\" d=\"M0 0H20.35"), std::string::npos) << map;
  EXPECT_NE(map.find("fill=\"" + value_color(1) + "\" d=\"M20 0H30.35"), std::string::npos) << map;
}

TEST(Plot, ColoursAreDistinct) {
  std::vector<std::string> seen;
  for (int i = 0; i < 8; ++i) {
    for (const std::string& other : seen) EXPECT_NE(series_color(i), other);
    seen.push_back(series_color(i));
  }
  EXPECT_EQ(series_color(8), series_color(0));
  EXPECT_EQ(value_color(0), "#440154");
  EXPECT_EQ(value_color(1), "#fde725");
  EXPECT_EQ(value_color(-3), value_color(0));
  EXPECT_EQ(value_color(NAN), "#808080");
}

TEST(Plot, LegendNamesEachSeriesOnce) {
  Plot plot;
  plot.lines = {{"same", {0, 1}, {0, 1}, {}, {}, false, 2},
                {"same", {0, 1}, {1, 2}, {}, {}, false, 2},
                {"", {0, 1}, {1, 3}, {}, {}, false, 3}};
  const std::string svg = draw(plot);
  EXPECT_EQ(count(svg, ">same</text>"), 1u);
}

}  // namespace
}  // namespace ockham::paper
