// How the algorithm's own settings K, F, B and γ change what it gives (appendix, robustness): a grid on CIFAR-10.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "experiments/image_cell.h"
#include "experiments/image_data.h"
#include "experiments/image_summary.h"
#include "experiments/plot.h"

namespace ockham::paper {
namespace {

const ImageScale of_paper{300, 1, 0, 0, true, false};
constexpr double kAlike = 0.05;  // a test log likelihood is as good when it is worse by no more than this share

struct Point {
  int64_t steps, frequency, burn_in;  // K, F, B
  double step_size;                   // γ
};

struct Grid {
  std::vector<int64_t> steps, frequencies, burn_ins;
  std::vector<double> step_sizes;
};

Grid grid_of(const Settings& settings) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  const int64_t late = std::max<int64_t>(1, scale.epochs / 6);  // 50 of 300
  if (settings.quick) return {{10, 100}, {1, 2}, {0, late}, {0.01, 1}};
  return {{10, 100, 1000}, {1, 5, 10}, {0, late}, {0.001, 0.1, 1}};
}

std::vector<Point> points_of(const Settings& settings) {
  const Grid grid = grid_of(settings);
  std::vector<Point> points;
  for (const int64_t steps : grid.steps)
    for (const int64_t frequency : grid.frequencies)
      for (const int64_t burn_in : grid.burn_ins)
        for (const double step_size : grid.step_sizes) points.push_back({steps, frequency, burn_in, step_size});
  return points;
}

std::string start_of(const Point& point) {
  return fmt::format("robustness/K={}/F={}/B={}/gamma={}", point.steps, point.frequency, point.burn_in,
                     point.step_size);
}

std::vector<Cell> make_cells(const Settings& settings) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  present_sets(settings.data, {"cifar-10"});
  std::vector<Cell> cells;
  for (int64_t seed = 0; seed < scale.seeds; ++seed)
    for (const Point& point : points_of(settings)) {
      ImageTraining training = paper_training("cifar-10", settings.quick ? "cnn:width=4,depth=2" : "cnn:3c3d",
                                              ImageMethod::diagonal_ef, scale);
      training.seed = image_seed(settings, seed);
      training.steps = point.steps;
      training.frequency = point.frequency;
      training.burn_in = point.burn_in;
      training.step_size = point.step_size;
      cells.push_back(image_cell(seed_name(scale_word(scale) + "/" + start_of(point), seed), training, settings));
    }
  return cells;
}

Summary likelihood_of(const Results& results, const Point& point) {
  return summary_of(results, start_of(point), "log_likelihood");
}

/// Whether `point` is about as good as `other`: its log likelihood is worse by no more than a share.
Case alike(const Results& results, const Point& point, const Point& other, const std::string& label) {
  const Summary ours = likelihood_of(results, point), theirs = likelihood_of(results, other);
  Case result{label, std::nullopt, ""};
  if (!std::isfinite(ours.mean) || !std::isfinite(theirs.mean)) return result;
  result.holds = ours.mean >= theirs.mean - kAlike * std::abs(theirs.mean);
  result.numbers = fmt::format("{} against {}", format_summary(ours, 3), format_summary(theirs, 3));
  return result;
}

std::string others(const Point& point, char without) {
  std::string text;
  const auto add = [&](char name, const std::string& value) {
    if (name != without)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name == 'g' ? "γ" : std::string(1, name), value);
  };
  add('K', fmt::format("{}", point.steps));
  add('F', fmt::format("{}", point.frequency));
  add('B', fmt::format("{}", point.burn_in));
  add('g', fmt::format("{}", point.step_size));
  return text;
}

Claim divergence_claim(const Settings& settings, const Results& results) {
  const double largest = grid_of(settings).step_sizes.back();
  int64_t trainings = 0, failed = 0;
  for (const Point& point : points_of(settings)) {
    if (point.step_size != largest) continue;
    for (const Json* result : seeds_of(results, start_of(point))) {
      ++trainings;
      failed += result->contains("failure") ? 1 : 0;
    }
  }
  Case all{fmt::format("γ = {}", largest), std::nullopt, ""};
  if (trainings > 0) {
    all.holds = failed == 0;
    all.numbers = fmt::format("{} of {} trainings diverged", failed, trainings);
  }
  return claim_of("The step size can be raised to γ = 1 without divergence.", "no training of that γ ended early",
                  {all});
}

std::vector<Claim> make_claims(const Settings& settings, const Results& results) {
  const Grid grid = grid_of(settings);
  const double large = grid.step_sizes.back(), small = grid.step_sizes.front();
  const int64_t enough = 100, often = grid.frequencies.front();
  std::vector<Case> faster, frequency, burn_in, steps;
  for (const Point& point : points_of(settings)) {
    if (point.steps == enough && point.step_size == large) {
      const Point slow{point.steps, point.frequency, point.burn_in, small};
      faster.push_back(higher(others(point, 'g'), summary_of(results, start_of(point), "evidence"),
                              summary_of(results, start_of(slow), "evidence")));
    }
    if (point.step_size != large) continue;
    if (point.frequency > often && point.steps >= enough)
      frequency.push_back(alike(results, point, {point.steps, often, point.burn_in, large},
                                fmt::format("F = {} with {}", point.frequency, others(point, 'F'))));
    if (point.burn_in > 0 && point.steps >= enough)
      burn_in.push_back(alike(results, point, {point.steps, point.frequency, 0, large}, others(point, 'B')));
    if (point.steps == enough && grid.steps.back() > enough)
      steps.push_back(
          alike(results, point, {grid.steps.back(), point.frequency, point.burn_in, large}, others(point, 'K')));
  }
  const std::string rule =
      fmt::format("test log likelihood worse by at most {:.0f} % of its value, γ = {}", 100 * kAlike, large);
  return {
      divergence_claim(settings, results),
      claim_of(fmt::format("A larger step size needs fewer steps: with K = 100, γ = {} ends higher than γ = {}.", large,
                           small),
               "evidence, means over the seeds", faster),
      claim_of("K = 100 steps suffice, with no gain by K = 1000.", rule, steps),
      claim_of("Estimating every 5 to 10 epochs does not decrease the performance against every epoch.", rule,
               frequency),
      claim_of("A burn-in of a sixth of the epochs works as well as none.", rule, burn_in),
  };
}

/// Means over all other settings, for every value of one.
Table level_table(const Settings& settings, const Results& results) {
  Table table{
      "Means over the rest of the grid",
      {"setting", "cells", "accuracy %", "log likelihood", "evidence", "seconds of training", "seconds of curvature"},
      {},
      "± here is the standard error over the cells of the grid. The paper gives no table."};
  const std::vector<Point> points = points_of(settings);
  const auto add = [&](const std::string& label, const std::function<bool(const Point&)>& chosen) {
    std::map<std::string, std::vector<double>> values;
    for (const Point& point : points)
      if (chosen(point))
        for (const Json* result : seeds_of(results, start_of(point)))
          for (const char* key : {"accuracy", "log_likelihood", "evidence", "seconds_training", "seconds_curvature"})
            values[key].push_back(number_of(*result, key));
    if (values.empty()) return;
    table.rows.push_back({label, fmt::format("{}", values["accuracy"].size()), percent(summarise(values["accuracy"])),
                          mean_and_error(values["log_likelihood"], 3), mean_and_error(values["evidence"], 3),
                          mean_and_error(values["seconds_training"], 1),
                          mean_and_error(values["seconds_curvature"], 1)});
  };
  const Grid grid = grid_of(settings);
  for (const int64_t value : grid.steps)
    add(fmt::format("K = {}", value), [=](const Point& point) { return point.steps == value; });
  for (const int64_t value : grid.frequencies)
    add(fmt::format("F = {}", value), [=](const Point& point) { return point.frequency == value; });
  for (const int64_t value : grid.burn_ins)
    add(fmt::format("B = {}", value), [=](const Point& point) { return point.burn_in == value; });
  for (const double value : grid.step_sizes)
    add(fmt::format("γ = {}", value), [=](const Point& point) { return point.step_size == value; });
  return table;
}

Table cell_table(const Settings& settings, const Results& results) {
  Table table{
      "Every cell", {"K", "F", "B", "γ", "accuracy %", "log likelihood", "ECE", "evidence", "best epoch"}, {}, ""};
  for (const Point& point : points_of(settings)) {
    const std::string start = start_of(point);
    if (seeds_of(results, start).empty()) continue;
    table.rows.push_back({fmt::format("{}", point.steps), fmt::format("{}", point.frequency),
                          fmt::format("{}", point.burn_in), fmt::format("{}", point.step_size),
                          percent(summary_of(results, start, "accuracy")),
                          format_summary(summary_of(results, start, "log_likelihood"), 3),
                          format_summary(summary_of(results, start, "ece"), 3),
                          format_summary(summary_of(results, start, "evidence"), 3),
                          format_number(summary_of(results, start, "best_epoch").mean, 0)});
  }
  return table;
}

Plot level_plot(const Settings& settings, const Results& results, const char* title,
                const std::function<double(const Point&)>& level, Scale scale) {
  Plot plot;
  plot.title = title;
  plot.x = {title, scale, std::nullopt, std::nullopt};
  plot.y.label = "test log likelihood";
  plot.value_label = "evidence per image";
  plot.width = 430;
  PointSeries series;
  for (const Point& point : points_of(settings))
    for (const Json* result : seeds_of(results, start_of(point))) {
      series.x.push_back(level(point));
      series.y.push_back(number_of(*result, "log_likelihood"));
      series.value.push_back(number_of(*result, "evidence"));
      series.label.push_back(others(point, ' '));
    }
  plot.points.push_back(series);
  return plot;
}

Presentation make_presentation(const Settings& settings, const Results& all_results) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  const Results results = of_scale(all_results, scale);
  Presentation presentation;
  presentation.claims = make_claims(settings, results);
  presentation.tables = {level_table(settings, results), cell_table(settings, results)};
  if (!results.empty())
    presentation.figures = {
        {"Test log likelihood by each setting",
         draw({level_plot(
                   settings, results, "K", [](const Point& point) { return static_cast<double>(point.steps); },
                   Scale::logarithmic),
               level_plot(
                   settings, results, "F", [](const Point& point) { return static_cast<double>(point.frequency); },
                   Scale::linear),
               level_plot(
                   settings, results, "B", [](const Point& point) { return static_cast<double>(point.burn_in); },
                   Scale::linear),
               level_plot(
                   settings, results, "γ", [](const Point& point) { return point.step_size; }, Scale::logarithmic)},
              2),
         "Each point is a training; the colour is its evidence."}};
  presentation.notes = {
      scale_words(scale, of_paper),
      "The paper names neither the grid nor the network nor the structure of this ablation: here it is its CNN (3c3d) "
      "with the diagonal EF, and the values that its text mentions.",
      "The last epoch always has a curvature pass, whatever F is; the best state of the last tenth of the epochs "
      "counts.",
  };
  add_closing_notes(presentation, settings, results, {"cifar-10"},
                    "--quick has a smaller grid and network (cnn:width=4,depth=2).");
  return presentation;
}

}  // namespace

Experiment robustness() {
  return {"robustness",
          "A grid over the algorithm's settings K, F, B and γ on CIFAR-10",
          "appendix, robustness to the algorithm's hyperparameters",
          "cifar-10/",
          "about ten days in full; --train-size 2000 --epochs 20 about 35 min on two idle cores; --quick 1 min",
          make_cells,
          make_presentation};
}

}  // namespace ockham::paper
