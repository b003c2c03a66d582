// The figures of the prior precision: fig:toy_regression_gridsearch, its traces, and fig:app:regression_gridsearch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/toy_regression_precision.h"

namespace ockham::paper {
namespace {

constexpr int kWidth = 520, kThird = 365;

std::string start_name(double start) { return fmt::format("online from {:g}", start); }

std::vector<double> first_entries(const Json& lists) {
  std::vector<double> out;
  for (const Json& list : lists) out.push_back(list.at(0).get<double>());
  return out;
}

std::vector<double> grid_values(const PrecisionGroup& group, const std::string& name) {
  std::vector<double> values;
  for (const FixedRun& run : group.fixed) values.push_back(number(*run.result, name));
  return values;
}

std::vector<double> grid_precisions(const PrecisionGroup& group) {
  std::vector<double> values;
  for (const FixedRun& run : group.fixed) values.push_back(std::pow(10, run.decade));
  return values;
}

// A trace begins hundreds of nats below: the axis shows the grid and a little more.
void show_evidences_near(const PrecisionGroup& group, Axis& axis) {
  const std::vector<double> evidences = grid_values(group, "log_evidence");
  if (evidences.empty()) return;
  const auto [low, high] = std::minmax_element(evidences.begin(), evidences.end());
  axis.first = *low - 0.25 * (*high - *low), axis.last = *high + 0.08 * (*high - *low);
}

Plot plot_paths(const PrecisionGroup& group, const std::string& title) {
  Plot plot;
  plot.title = title;
  plot.width = kWidth;
  plot.x = {"prior precision δ", Scale::logarithmic, {}, {}};
  plot.y.label = "log evidence";
  plot.lines.push_back(
      {"fixed precisions", grid_precisions(group), grid_values(group, "log_evidence"), {}, {}, false, 7});
  for (size_t i = 0; i < group.online.size(); ++i) {
    const OnlineRun& run = group.online[i];
    const Json& trace = run.result->at("trace");
    const int color = static_cast<int>(i);
    plot.lines.push_back({start_name(run.start),
                          first_entries(trace.at("precision")),
                          numbers(trace.at("log_evidence")),
                          {},
                          {},
                          true,
                          color});
    const double evidence = number(*run.result, "log_evidence");
    plot.points.push_back(
        {"",
         {std::pow(10, run.decade())},
         {evidence},
         {},
         {fmt::format("from {:g} to {:.3g}: {:.2f}", run.start, std::pow(10, run.decade()), evidence)},
         color});
  }
  show_evidences_near(group, plot.y);
  return plot;
}

Plot plot_trace(const PrecisionGroup& group, const std::string& what, const Axis& axis, double best) {
  Plot plot;
  plot.width = kThird;
  plot.height = 320;
  plot.x.label = "epoch";
  plot.y = axis;
  double last = 1;
  for (size_t i = 0; i < group.online.size(); ++i) {
    const Json& trace = group.online[i].result->at("trace");
    const std::vector<double> epochs = numbers(trace.at("epoch"));
    if (!epochs.empty()) last = std::max(last, epochs.back());
    plot.lines.push_back({start_name(group.online[i].start),
                          epochs,
                          what == "precision" ? first_entries(trace.at(what)) : numbers(trace.at(what)),
                          {},
                          {},
                          false,
                          static_cast<int>(i)});
  }
  plot.lines.push_back({"grid's best", {0, last}, {best, best}, {}, {}, true, 7});
  return plot;
}

std::vector<Plot> plot_traces(const PrecisionGroup& group) {
  const FixedRun* best = group.best();
  Axis evidence{"log evidence", Scale::linear, {}, {}};
  show_evidences_near(group, evidence);
  return {plot_trace(group, "precision", {"prior precision δ", Scale::logarithmic, {}, {}}, std::pow(10, best->decade)),
          plot_trace(group, "noise", {"noise σ", Scale::logarithmic, {}, {}}, number(*best->result, "noise")),
          plot_trace(group, "log_evidence", evidence, number(*best->result, "log_evidence"))};
}

Plot plot_test(const PrecisionGroup& group, const std::string& title) {
  Plot plot;
  plot.title = title;
  plot.width = kWidth;
  plot.x = {"prior precision δ", Scale::logarithmic, {}, {}};
  plot.y.label = "test NLL";
  plot.lines.push_back({"fixed, MAP", grid_precisions(group), grid_values(group, "test_nll"), {}, {}, false, 7});
  plot.lines.push_back(
      {"fixed, linearised", grid_precisions(group), grid_values(group, "test_nll_bayes"), {}, {}, true, 7});
  for (size_t i = 0; i < group.online.size(); ++i) {
    const OnlineRun& run = group.online[i];
    plot.points.push_back({start_name(run.start),
                           {std::pow(10, run.decade())},
                           {number(*run.result, "test_nll")},
                           {},
                           {},
                           static_cast<int>(i)});
  }
  if (const FixedRun* best = group.best())
    plot.points.push_back(
        {"highest evidence of the grid", {std::pow(10, best->decade)}, {number(*best->result, "test_nll")}, {}, {}, 4});
  return plot;
}

}  // namespace

void add_precision_figures(const Settings& settings, const Results& results, Presentation& out) {
  const uint64_t seed = settings.seed;
  std::vector<Plot> paths, tests;
  std::vector<Plot> ends;
  std::vector<Figure> traces;
  for (const PrecisionSettings& one : precision_settings(settings)) {
    const PrecisionGroup group = find_group(settings, results, one.name, seed);
    if (!group.best() || group.online.empty()) continue;
    paths.push_back(plot_paths(group, one.title));
    tests.push_back(plot_test(group, one.title));
    traces.push_back(
        {"Traces, " + one.title, draw(plot_traces(group), 3),
         fmt::format("Seed {}: prior precision, noise and evidence by epoch; dashed: the grid's best.", seed)});
    if (!ends.empty()) continue;
    for (const FixedRun* run : {&group.fixed.front(), &group.fixed.back()})
      if (run->result->contains("bands"))
        ends.push_back(
            plot_bands(run->result->at("bands"),
                       fmt::format("δ = {:g}: log evidence {:.1f}, test NLL {:.2f}", std::pow(10, run->decade),
                                   number(*run->result, "log_evidence"), number(*run->result, "test_nll")),
                       Bands::map));
  }
  if (paths.empty()) return;
  std::vector<Plot> search = paths;
  search.insert(search.end(), ends.begin(), ends.end());
  out.figures.push_back(
      {"Online runs against a grid of fixed prior precisions", draw(search, 2),
       fmt::format(
           "fig:toy_regression_gridsearch, seed {}. First row: the evidence after training at fixed precisions, "
           "and the ways of three online runs, which end at the dots. Second row: the MAP predictives at both "
           "ends of the grid, trained by the paper's settings.",
           seed)});
  for (const Figure& figure : traces) out.figures.push_back(figure);
  out.figures.push_back({"Test NLL against prior precision", draw(tests, 2),
                         fmt::format("fig:app:regression_gridsearch, seed {}.", seed)});
}

}  // namespace ockham::paper
