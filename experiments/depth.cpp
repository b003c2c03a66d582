// ResNets of growing depth on CIFAR-10, with and without data augmentation (app:tab:resnet_depth).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/image_cell.h"
#include "experiments/image_data.h"
#include "experiments/image_summary.h"
#include "experiments/plot.h"

namespace ockham::paper {
namespace {

const ImageScale of_paper{300, 5, 0, 0, true, false};
constexpr double kLargely = 0.1;  // a spread of evidences below this share of their mean is "largely unaffected"
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// The paper's numbers: without, then with augmentation.
struct Row {
  int64_t depth, parameters;
  Summary accuracy[2], log_likelihood[2], evidence[2];
};
const std::vector<Row> paper_rows = {
    {20,
     268393,
     {{85.82, 0.13, 5}, {91.18, 0.20, 5}},
     {{-0.46, 0.01, 5}, {-0.375, 0.020, 5}},
     {{-0.876, 0.012, 5}, {-0.633, 0.002, 5}}},
    {32,
     461959,
     {{85.66, 0.29, 5}, {91.63, 0.22, 5}},
     {{-0.46, 0.01, 5}, {-0.355, 0.017, 5}},
     {{-0.898, 0.025, 5}, {-0.623, 0.008, 5}}},
    {44,
     655525,
     {{85.63, 0.24, 5}, {91.78, 0.11, 5}},
     {{-0.45, 0.01, 5}, {-0.336, 0.007, 5}},
     {{-0.904, 0.014, 5}, {-0.622, 0.009, 5}}},
    {56,
     849091,
     {{85.82, 0.17, 5}, {91.62, 0.15, 5}},
     {{-0.44, 0.01, 5}, {-0.344, 0.012, 5}},
     {{-0.932, 0.010, 5}, {-0.625, 0.013, 5}}},
    {110,
     1720138,
     {{86.11, 0.24, 5}, {91.85, 0.13, 5}},
     {{-0.44, 0.01, 5}, {-0.323, 0.009, 5}},
     {{-0.937, 0.009, 5}, {-0.638, 0.009, 5}}},
};

std::vector<int64_t> depths_of(const Settings& settings) {
  if (settings.quick) return {8, 14, 20};
  std::vector<int64_t> depths;
  for (const Row& row : paper_rows) depths.push_back(row.depth);
  return depths;
}

/// The smallest one is that of `images` and `augmentation`.
std::string word_of(const Settings& settings, int64_t depth) {
  return depth == depths_of(settings).front() ? "resnet" : fmt::format("resnet-{}", depth);
}

std::string start_of(const Settings& settings, bool augment, int64_t depth) {
  return start_of(SharedTraining{"cifar-10", word_of(settings, depth), "", ImageMethod::diagonal_ef, augment});
}

std::string words_of(bool augment) { return augment ? "with augmentation" : "without augmentation"; }

std::vector<Cell> make_cells(const Settings& settings) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  present_sets(settings.data, {"cifar-10"});
  std::vector<Cell> cells;
  for (int64_t seed = 0; seed < scale.seeds; ++seed)
    for (const bool augment : {false, true})
      for (const int64_t depth : depths_of(settings)) {
        const SharedTraining shared{"cifar-10", word_of(settings, depth), resnet_for(scale, depth),
                                    ImageMethod::diagonal_ef, augment};
        cells.push_back(shared_cell(shared, seed, scale, settings));
      }
  return cells;
}

Table score_table(const Settings& settings, const Results& results) {
  Table table{"ResNets on CIFAR-10 by depth, diagonal EF, ours beside the paper's",
              {"augmentation", "depth", "parameters", "seeds", "accuracy %", "paper", "log likelihood", "paper",
               "evidence", "paper", "minutes"},
              {},
              "MAP predictive, ± standard errors over seeds. Evidence: per image and unit of the likelihood weight."};
  const Summary nothing{none, none, 0};
  for (const bool augment : {false, true})
    for (const int64_t depth : depths_of(settings)) {
      const std::string start = start_of(settings, augment, depth);
      const size_t seeds = seeds_of(results, start).size();
      if (seeds == 0) continue;
      const auto paper = std::find_if(paper_rows.begin(), paper_rows.end(),
                                      [&](const Row& row) { return row.depth == depth && !settings.quick; });
      const bool known = paper != paper_rows.end();
      const size_t which = augment ? 1 : 0;
      table.rows.push_back({augment ? "yes" : "no", fmt::format("{}", depth),
                            format_number(summary_of(results, start, "parameters").mean, 0), fmt::format("{}", seeds),
                            percent(summary_of(results, start, "accuracy")),
                            format_summary(known ? paper->accuracy[which] : nothing, 2),
                            format_summary(summary_of(results, start, "log_likelihood"), 3),
                            format_summary(known ? paper->log_likelihood[which] : nothing, 2),
                            format_summary(summary_of(results, start, "evidence"), 3),
                            format_summary(known ? paper->evidence[which] : nothing, 3), minutes_of(results, start)});
    }
  return table;
}

/// max - min of the evidences over the depths, against their mean.
Case spread_case(const Settings& settings, const Results& results, bool augment) {
  std::vector<double> values;
  for (const int64_t depth : depths_of(settings)) {
    const double evidence = summary_of(results, start_of(settings, augment, depth), "evidence").mean;
    if (std::isfinite(evidence)) values.push_back(evidence);
  }
  Case result{words_of(augment), std::nullopt, ""};
  if (values.size() < 2) return result;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double mean = summarise(values).mean;
  result.holds = *most - *least <= kLargely * std::abs(mean);
  result.numbers = fmt::format("evidences from {:.3f} to {:.3f}, mean {:.3f}", *least, *most, mean);
  return result;
}

/// The depth with the highest evidence; 0 unless all are there.
int64_t best_depth(const Settings& settings, const Results& results, bool augment) {
  int64_t best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (const int64_t depth : depths_of(settings)) {
    const double evidence = summary_of(results, start_of(settings, augment, depth), "evidence").mean;
    if (!std::isfinite(evidence)) return 0;
    if (evidence > highest) {
      highest = evidence;
      best = depth;
    }
  }
  return best;
}

std::vector<Claim> make_claims(const Settings& settings, const Results& results) {
  const std::vector<int64_t> depths = depths_of(settings);
  Case smallest{"without augmentation", std::nullopt, ""}, medium{"with augmentation", std::nullopt, ""};
  if (const int64_t best = best_depth(settings, results, false); best > 0) {
    smallest.holds = best == depths.front();
    smallest.numbers = fmt::format("the highest evidence has depth {}", best);
  }
  if (const int64_t best = best_depth(settings, results, true); best > 0) {
    medium.holds = best != depths.front() && best != depths.back();
    medium.numbers = fmt::format("the highest evidence has depth {}", best);
  }
  std::vector<Case> accuracy;
  for (const bool augment : {false, true})
    for (const int64_t depth : depths)
      if (depth != depths.front())
        accuracy.push_back(lower(fmt::format("depth {} {}", depth, words_of(augment)),
                                 accuracy_of(results, start_of(settings, augment, depth)),
                                 accuracy_of(results, start_of(settings, augment, depths.front())), 4,
                                 Margin::within_errors));
  return {
      claim_of("The evidence is largely unaffected by the growing number of parameters.",
               fmt::format("the evidences of all depths span at most {:.0f} % of their mean", 100 * kLargely),
               {spread_case(settings, results, false), spread_case(settings, results, true)}),
      claim_of("Without augmentation the smallest model has the highest evidence.", "means over the seeds", {smallest}),
      claim_of("With augmentation medium-sized models have the highest evidence.",
               "means over the seeds: neither the smallest nor the deepest", {medium}),
      claim_of(
          "Depth beyond the smallest does not improve the performance noticeably.",
          "accuracy not higher than the smallest one's by more than two combined standard errors (seeds and finite "
          "test set)",
          accuracy),
  };
}

Plot depth_plot(const Settings& settings, const Results& results, const char* key, const char* title, double factor) {
  Plot plot;
  plot.title = title;
  plot.x = {"depth", Scale::logarithmic, std::nullopt, std::nullopt};
  for (const bool augment : {false, true}) {
    LineSeries line;
    line.name = words_of(augment);
    for (const int64_t depth : depths_of(settings)) {
      const Summary summary = summary_of(results, start_of(settings, augment, depth), key);
      const double error = std::isfinite(summary.error) ? summary.error : 0;
      line.x.push_back(static_cast<double>(depth));
      line.y.push_back(factor * summary.mean);
      line.lower.push_back(factor * (summary.mean - error));
      line.upper.push_back(factor * (summary.mean + error));
    }
    plot.lines.push_back(line);
  }
  return plot;
}

Presentation make_presentation(const Settings& settings, const Results& all_results) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  const Results results = of_scale(all_results, scale);
  Presentation presentation;
  presentation.claims = make_claims(settings, results);
  presentation.tables = {score_table(settings, results)};
  if (!results.empty())
    presentation.figures = {{"Evidence and accuracy by depth",
                             draw({depth_plot(settings, results, "evidence", "Evidence per image", 1),
                                   depth_plot(settings, results, "accuracy", "Test accuracy %", 100)},
                                  2),
                             "Means over the seeds; bands are standard errors."}};
  presentation.notes = {
      scale_words(scale, of_paper),
      resnet_words(scale),
      fmt::format("Diagonal EF, F = {}, K = 100, B = {}, γ = 1; augmentation by crops and "
                  "flips with the likelihood's weight 5; the best state of the last "
                  "tenth of the epochs.",
                  frequency_for(scale.epochs, 10), burn_in_for(scale)),
      "The paper does not say how it normalises the evidence with augmentation; here it is divided by the number of "
      "images and by the weight.",
  };
  add_closing_notes(presentation, settings, results, {"cifar-10"},
                    "--quick trains ResNets of depths 8, 14 and 20 and width 8.");
  return presentation;
}

}  // namespace

Experiment depth() {
  return {"depth",
          "ResNets of depth 20 to 110 on CIFAR-10, with and without data augmentation",
          "appendix, deeper ResNets",
          "cifar-10/",
          "months in full; --train-size 500 --epochs 8 --splits 1 about 4 min on two idle cores; --quick 1 min",
          make_cells,
          make_presentation};
}

}  // namespace ockham::paper
