#include "experiments/image_scatter.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/image_summary.h"
#include "experiments/plot.h"
#include "ockham/assess/rank_correlation.h"

namespace ockham::paper {
namespace {

struct Color {
  const char* label;
  double (*value)(const TrainedArchitecture&);
};

const Color by_parameters{"log10 parameters",
                          [](const TrainedArchitecture& one) { return std::log10(one.parameters); }};
const Color by_width{"log2 width", [](const TrainedArchitecture& one) { return std::log2(one.width); }};
const Color by_depth{"depth", [](const TrainedArchitecture& one) { return one.depth; }};

Plot scatter(const std::vector<TrainedArchitecture>& points, const std::string& title, const Color& color) {
  Plot plot;
  plot.title = title;
  plot.x.label = "log evidence per image";
  plot.y.label = "test accuracy %";
  plot.value_label = color.label;
  plot.width = 430;
  PointSeries series;
  for (const TrainedArchitecture& one : points) {
    series.x.push_back(one.evidence);
    series.y.push_back(100 * one.accuracy);
    series.value.push_back(color.value(one));
    series.label.push_back(fmt::format("{}: {:.0f} parameters", name_of(one.what), one.parameters));
  }
  plot.points.push_back(series);
  return plot;
}

Figure figure_of(const std::vector<TrainedArchitecture>& all, const std::vector<std::string>& sets, const Color& color,
                 const std::string& title) {
  std::vector<Plot> plots;
  for (const std::string& set : sets) {
    const auto points = those(all, set);
    if (!points.empty()) plots.push_back(scatter(points, set, color));
  }
  return {title, draw(plots, 2), "Each point is a trained network; rest the pointer on it for its name."};
}

}  // namespace

std::string start_of(const Architecture& architecture) {
  return fmt::format("architectures/{}/{}", architecture.set, name_of(architecture));
}

std::vector<TrainedArchitecture> trained_architectures(const Results& results, const std::vector<std::string>& sets,
                                                       ArchitectureList list) {
  std::vector<TrainedArchitecture> all;
  for (const std::string& set : sets)
    for (const Architecture& one : architectures_of(set, list)) {
      const std::string start = start_of(one);
      const double evidence = summary_of(results, start, "evidence").mean;
      if (!std::isfinite(evidence)) continue;
      all.push_back({one, summary_of(results, start, "accuracy").mean, evidence,
                     summary_of(results, start, "log_likelihood").mean, summary_of(results, start, "parameters").mean,
                     static_cast<double>(one.width), static_cast<double>(one.depth)});
    }
  return all;
}

std::vector<TrainedArchitecture> those(const std::vector<TrainedArchitecture>& all, const std::string& set,
                                       std::optional<Family> family) {
  std::vector<TrainedArchitecture> chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const TrainedArchitecture& one) {
    return one.what.set == set && (!family || one.what.family == *family);
  });
  return chosen;
}

std::optional<double> correlate(const std::vector<TrainedArchitecture>& points, double TrainedArchitecture::*first,
                                double TrainedArchitecture::*second) {
  std::vector<double> x, y;
  for (const TrainedArchitecture& one : points) {
    x.push_back(one.*first);
    y.push_back(one.*second);
  }
  const auto varies = [](const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [&](double value) { return value != values[0]; });
  };
  if (x.size() < 3 || !varies(x) || !varies(y)) return std::nullopt;
  return spearman_correlation(at::tensor(x, at::kDouble), at::tensor(y, at::kDouble));
}

std::vector<Figure> architecture_figures(const std::vector<TrainedArchitecture>& all,
                                         const std::vector<std::string>& sets) {
  std::vector<Figure> figures = {
      figure_of(all, sets, by_parameters, "Evidence against test accuracy, coloured by the number of parameters"),
      figure_of(all, sets, by_width, "The same, coloured by width"),
      figure_of(all, sets, by_depth, "The same, coloured by depth")};
  const auto residual = those(all, "cifar-100", Family::resnet);
  if (!residual.empty())
    figures.push_back(
        {"ResNets on CIFAR-100",
         draw({scatter(residual, "coloured by width", by_width), scatter(residual, "coloured by depth", by_depth)}, 2),
         "The paper: wider ResNets have both a higher evidence and accuracy, depth shows no clear trend."});
  return figures;
}

}  // namespace ockham::paper
