// The figures of fig:toy: traces of evidence and hyperparameters, and maps of the probability.
#include <fmt/format.h>

#include <cmath>

#include "experiments/plot.h"
#include "experiments/toy_classification.h"

namespace ockham::paper {
namespace {

constexpr int kThird = 365;

Plot trace_plot(const std::vector<double>& epochs, const Axis& axis) {
  Plot plot;
  plot.width = kThird;
  plot.height = 300;
  plot.x.label = "epoch";
  plot.y = axis;
  if (!epochs.empty()) plot.x.first = 0, plot.x.last = epochs.back();
  return plot;
}

std::vector<Plot> plot_traces(const Json& result) {
  const Json& trace = result.at("trace");
  const std::vector<double> epochs = numbers(trace.at("epoch"));
  Plot evidence = trace_plot(epochs, {"log evidence", Scale::linear, {}, {}});
  evidence.lines.push_back({"", epochs, numbers(trace.at("log_evidence")), {}, {}, false, 0});
  Plot precision = trace_plot(epochs, {"prior precision δ", Scale::logarithmic, {}, {}});
  const Json& names = result.at("precision_names");
  for (size_t group = 0; group < names.size(); ++group) {
    LineSeries series;
    series.name = names[group].get<std::string>();
    series.x = epochs;
    for (const Json& now : trace.at("precision")) series.y.push_back(now.at(group).get<double>());
    precision.lines.push_back(series);
  }
  Plot temperature = trace_plot(epochs, {"temperature T", Scale::linear, {}, {}});
  temperature.lines.push_back({"", epochs, numbers(trace.at("temperature")), {}, {}, false, 1});
  return {evidence, precision, temperature};
}

Plot plot_map(const Json& maps, const std::string& which, const std::string& title) {
  Plot plot;
  plot.title = title;
  plot.height = 400;
  plot.x.label = "x1";
  plot.y.label = "x2";
  plot.map = MapLayer{numbers(maps.at("x")), numbers(maps.at("y")), numbers(maps.at(which)), "p(class 1)", 0, 1};
  const std::vector<double> x = numbers(maps.at("point_x")), y = numbers(maps.at("point_y"));
  const std::vector<double> kind = numbers(maps.at("point_class"));
  PointSeries zero{"class 0", {}, {}, {}, {}, 3}, one{"class 1", {}, {}, {}, {}, 1};
  for (size_t i = 0; i < x.size(); ++i) {
    PointSeries& series = kind[i] > 0.5 ? one : zero;
    series.x.push_back(x[i]), series.y.push_back(y[i]);
  }
  plot.points = {zero, one};
  return plot;
}

}  // namespace

void add_banana_figures(const Settings& settings, const Results& results, Presentation& out) {
  const uint64_t seed = settings.seed;
  for (const BananaSettings& one : banana_settings(settings))
    for (const std::string activation : toy_activations) {
      const Json* online = find_result(results, banana_cell(one.name, activation, Regularisation::online, seed, seed));
      const Json* weak = find_result(results, banana_cell(one.name, activation, Regularisation::weak, seed, seed));
      if (online)
        out.figures.push_back(
            {fmt::format("Step 1, {}: {}", activation, one.title), draw(plot_traces(*online), 3),
             fmt::format("fig:toy, left. Data seed {0}, network seed {0}: evidence, prior precision of "
                         "each layer and temperature during online training.",
                         seed)});
      std::vector<Plot> maps;
      const auto add = [&](const Json* result, const std::string& name) {
        if (!result || !result->contains("maps")) return;
        const std::string numbers_text =
            fmt::format("log evidence {:.0f}, accuracy {:.0f} / {:.1f} %", number(*result, "log_evidence"),
                        100 * number(*result, "train_accuracy"), 100 * number(*result, "test_accuracy"));
        maps.push_back(plot_map(result->at("maps"), "map", name + ", MAP: " + numbers_text));
        maps.push_back(
            plot_map(result->at("maps"), "bayes",
                     fmt::format("{}, linearised: accuracy {:.1f} %, NLL {:.2f}", name,
                                 100 * number(*result, "test_accuracy_bayes"), number(*result, "test_nll_bayes"))));
      };
      add(online, "online"), add(weak, "weak");
      if (!maps.empty())
        out.figures.push_back(
            {fmt::format("Step 2, {}: {}", activation, one.title), draw(maps, 2),
             fmt::format(
                 "fig:toy, right, and fig:app:toy_classification_bayes. Data seed {0}, network seed {0}. Training "
                 "and test accuracy; the linearised predictive is the mean over 1000 samples of f. The paper has "
                 "-117, 92 % and 89 % online, -165, 99 % and 86 % with the weak prior.",
                 seed)});
    }
}

}  // namespace ockham::paper
