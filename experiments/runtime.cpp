// Training curves against wall time, of the method and of default weight decay (fig:runtime).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/image_cell.h"
#include "experiments/image_data.h"
#include "experiments/image_summary.h"
#include "experiments/plot.h"

namespace ockham::paper {
namespace {

const ImageScale of_paper{300, 1, 0, 0, true, false};
constexpr double kPaperRatio = 2, kMostRatio = 2.5;

std::string start_of(ImageMethod method) { return "runtime/" + word_of(method); }

std::vector<Cell> make_cells(const Settings& settings) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  present_sets(settings.data, {"cifar-10"});
  std::vector<Cell> cells;
  for (int64_t seed = 0; seed < scale.seeds; ++seed)
    for (const ImageMethod method : {ImageMethod::kron, ImageMethod::weight_decay}) {
      ImageTraining training =
          paper_training("cifar-10", settings.quick ? "cnn:width=4,depth=3" : "cnn:3c3d", method, scale);
      training.seed = image_seed(settings, seed);
      training.curve_images = settings.quick ? 200 : 1000;
      training.frequency = frequency_for(scale.epochs, 10);  // also of weight decay: its evidence is watched
      cells.push_back(image_cell(seed_name(scale_word(scale) + "/" + start_of(method), seed), training, settings));
    }
  return cells;
}

/// Seconds that the training had taken after each epoch: totals shared evenly, so that what else the machine did does
/// not bend the curve. Weight decay needs no curvature, its passes are not counted.
std::vector<double> seconds_after(const Json& result, ImageMethod method) {
  const size_t epochs = result.at("losses").size(), passes = result.at("passes").size();
  const double epoch = number_of(result, "seconds_training") / static_cast<double>(epochs);
  const double pass = method == ImageMethod::weight_decay
                          ? 0
                          : number_of(result, "seconds_curvature") / static_cast<double>(std::max<size_t>(passes, 1));
  std::vector<double> seconds;
  size_t done = 0;
  for (size_t k = 1; k <= epochs; ++k) {
    while (done < passes && result.at("passes")[done].at("epoch").get<size_t>() <= k) ++done;
    seconds.push_back(static_cast<double>(k) * epoch + static_cast<double>(done) * pass);
  }
  return seconds;
}

LineSeries curve(const Json& result, ImageMethod method, const char* key, bool dashed) {
  LineSeries line;
  line.name = fmt::format("{}, {}", name_of(method), dashed ? "training" : "test");
  line.x = seconds_after(result, method);
  line.dashed = dashed;
  line.color = method == ImageMethod::kron ? 0 : 1;
  for (size_t k = 0; k < line.x.size(); ++k) line.y.push_back(number_of(result.at("curve").at(k), key));
  return line;
}

LineSeries evidence_curve(const Json& result, ImageMethod method) {
  LineSeries line;
  line.name = name_of(method);
  line.color = method == ImageMethod::kron ? 0 : 1;
  const std::vector<double> seconds = seconds_after(result, method);
  for (const Json& pass : result.at("passes")) {
    line.x.push_back(seconds.at(pass.at("epoch").get<size_t>() - 1));
    line.y.push_back(number_of(pass, "evidence"));
  }
  return line;
}

Figure curves_figure(const Results& results) {
  Plot likelihood, error, evidence;
  likelihood.title = "Negative log likelihood";
  error.title = "Error rate";
  evidence.title = "Evidence per image";
  for (Plot* plot : {&likelihood, &error, &evidence}) plot->x.label = "seconds of training";
  for (const ImageMethod method : {ImageMethod::kron, ImageMethod::weight_decay}) {
    const auto seeds = seeds_of(results, start_of(method));
    if (seeds.empty() || !seeds[0]->contains("curve")) continue;
    for (const bool dashed : {true, false}) {
      likelihood.lines.push_back(curve(*seeds[0], method, dashed ? "train_nll" : "test_nll", dashed));
      error.lines.push_back(curve(*seeds[0], method, dashed ? "train_error" : "test_error", dashed));
    }
    evidence.lines.push_back(evidence_curve(*seeds[0], method));
  }
  return {"Training and test curves over wall time", draw({likelihood, error, evidence}, 1),
          "The first seed; of some training and test images. The passes that watch the evidence under weight decay are "
          "not counted as its time."};
}

/// 1 + curvature / training, of one run: load on the machine disturbs both alike.
Summary ratio_of(const Results& results) {
  std::vector<double> ratios;
  for (const Json* result : seeds_of(results, start_of(ImageMethod::kron)))
    ratios.push_back(1 + number_of(*result, "seconds_curvature") / number_of(*result, "seconds_training"));
  return summarise(ratios);
}

Summary gap_of(const Results& results, ImageMethod method) {
  std::vector<double> gaps;
  for (const Json* result : seeds_of(results, start_of(method)))
    gaps.push_back(number_of(*result, "train_log_likelihood") - number_of(*result, "log_likelihood"));
  return summarise(gaps);
}

std::vector<Claim> make_claims(const Results& results) {
  const std::string ours = start_of(ImageMethod::kron), theirs = start_of(ImageMethod::weight_decay);
  const Summary ratio = ratio_of(results);
  Case time{"time of training", std::nullopt, ""};
  if (std::isfinite(ratio.mean)) {
    time.holds = ratio.mean <= kMostRatio;
    time.numbers =
        fmt::format("{} times that without evidence (the paper: about {})", format_summary(ratio, 2), kPaperRatio);
  }
  const char* means = "means over the seeds";
  return {
      claim_of("The generalisation gap is smaller than with default weight decay.",
               "log likelihood of training minus that of test images, means over the seeds",
               {lower("gap", gap_of(results, ImageMethod::kron), gap_of(results, ImageMethod::weight_decay))}),
      claim_of(
          "The test error rate matches the baseline's.",
          "accuracy not lower by more than two combined standard errors (seeds and finite test set)",
          {higher("accuracy", accuracy_of(results, ours), accuracy_of(results, theirs), 4, Margin::within_errors)}),
      claim_of("The baseline has a worse test log likelihood.", means,
               {higher("log likelihood", summary_of(results, ours, "log_likelihood"),
                       summary_of(results, theirs, "log_likelihood"))}),
      claim_of("The evidence indicates that as well.", means,
               {higher("evidence per image", summary_of(results, ours, "evidence"),
                       summary_of(results, theirs, "evidence"))}),
      claim_of("The Kronecker-factored evidence every F epochs takes about twice the time.",
               fmt::format("(training + curvature) / training of the same run is at most {}", kMostRatio), {time}),
  };
}

Presentation make_presentation(const Settings& settings, const Results& all_results) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  const Results results = of_scale(all_results, scale);
  Presentation presentation;
  presentation.claims = make_claims(results);
  Table table{"CNN on CIFAR-10 at the end of the training",
              {"method", "seeds", "accuracy %", "log likelihood", "on training images", "ECE", "evidence",
               "seconds of training", "seconds of curvature"},
              {},
              "The paper has this as a figure only. MAP predictive; ± standard errors over seeds."};
  for (const ImageMethod method : {ImageMethod::kron, ImageMethod::weight_decay}) {
    const std::string start = start_of(method);
    const size_t seeds = seeds_of(results, start).size();
    if (seeds == 0) continue;
    table.rows.push_back({name_of(method), fmt::format("{}", seeds), percent(summary_of(results, start, "accuracy")),
                          format_summary(summary_of(results, start, "log_likelihood"), 3),
                          format_summary(summary_of(results, start, "train_log_likelihood"), 3),
                          format_summary(summary_of(results, start, "ece"), 3),
                          format_summary(summary_of(results, start, "evidence"), 3),
                          format_summary(summary_of(results, start, "seconds_training"), 1),
                          format_summary(summary_of(results, start, "seconds_curvature"), 1)});
  }
  presentation.tables = {table};
  if (!results.empty()) presentation.figures = {curves_figure(results)};
  presentation.notes = {
      scale_words(scale, of_paper),
      fmt::format("The paper's CNN (3c3d), Adam with 1e-3, F = {}, K = 100, B = {}, γ = 1, kron GGN by the paper's "
                  "rule. Weight "
                  "decay is 5e-4 of the mean loss and ends with its last state.",
                  frequency_for(scale.epochs, 10), burn_in_for(scale)),
      "Epochs and passes have their mean time each, so that other work of the machine does not bend the curves.",
  };
  add_closing_notes(presentation, settings, results, {"cifar-10"},
                    "--quick trains a much smaller network (cnn:width=4,depth=3).");
  return presentation;
}

}  // namespace

Experiment runtime() {
  return {"runtime",
          "Training and test curves of a CNN on CIFAR-10 against wall time, with and without online evidence",
          "Figure on the runtime",
          "cifar-10/",
          "about 8 h in full; --train-size 10000 --epochs 40 about 15 min on two idle cores; --quick 1 min",
          make_cells,
          make_presentation};
}

}  // namespace ockham::paper
