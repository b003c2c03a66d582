// ResNet-20 on CIFAR-10 with and without data augmentation (fig:resnet_bar and app:tab:resnetbar_table).
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

constexpr double none = std::numeric_limits<double>::quiet_NaN();
const Summary unknown{none, none, 0};

/// With the paper's numbers: accuracy %, log likelihood, ECE, OOD-AUC. It has none of `expand`.
struct Row {
  bool augment;
  ImageMethod method;
  Summary accuracy, log_likelihood, ece, auroc;
};
const std::vector<Row> rows = {
    {false, ImageMethod::weight_decay, {83.73, 0.28, 5}, {-1.06, 0.02, 5}, {0.127, 0.002, 5}, {0.814, 0.007, 5}},
    {false, ImageMethod::diagonal_ef, {85.82, 0.13, 5}, {-0.46, 0.01, 5}, {0.048, 0.002, 5}, {0.901, 0.004, 5}},
    {false, ImageMethod::kron, {86.11, 0.39, 5}, {-0.60, 0.02, 5}, {0.085, 0.003, 5}, {0.882, 0.008, 5}},
    {false, ImageMethod::kron_expand, unknown, unknown, unknown, unknown},
    {true, ImageMethod::weight_decay, {91.38, 0.15, 5}, {-0.58, 0.01, 5}, {0.069, 0.001, 5}, {0.897, 0.003, 5}},
    {true, ImageMethod::diagonal_ef, {91.18, 0.20, 5}, {-0.38, 0.02, 5}, {0.054, 0.003, 5}, {0.900, 0.003, 5}},
    {true, ImageMethod::kron, {91.26, 0.12, 5}, {-0.54, 0.02, 5}, {0.068, 0.001, 5}, {0.896, 0.006, 5}},
    {true, ImageMethod::kron_expand, unknown, unknown, unknown, unknown},
};

std::string start_of(bool augment, ImageMethod method) {
  return start_of(SharedTraining{"cifar-10", "resnet", "", method, augment});
}

std::string words_of(bool augment) { return augment ? "with augmentation" : "without augmentation"; }

std::vector<Cell> make_cells(const Settings& settings) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  present_sets(settings.data, {"cifar-10"});
  std::vector<Cell> cells;
  for (int64_t seed = 0; seed < scale.seeds; ++seed)
    for (const Row& row : rows) {
      const SharedTraining shared{"cifar-10", "resnet", resnet_for(scale, scale.quick ? 8 : 20), row.method,
                                  row.augment};
      cells.push_back(shared_cell(shared, seed, scale, settings));
    }
  return cells;
}

Table score_table(const Results& results) {
  Table table{
      "ResNet-20 on CIFAR-10, ours beside the paper's",
      {"augmentation", "method", "seeds", "accuracy %", "paper", "log likelihood", "paper", "ECE", "paper", "OOD-AUC",
       "paper", "evidence", "minutes"},
      {},
      "MAP predictive, ± standard errors over seeds. OOD-AUC: entropy of the predictive, CIFAR-10's test images "
      "against SVHN's. Evidence: per image and unit of the likelihood weight."};
  for (const Row& row : rows) {
    const std::string start = start_of(row.augment, row.method);
    const size_t seeds = seeds_of(results, start).size();
    if (seeds == 0) continue;
    table.rows.push_back({row.augment ? "yes" : "no", name_of(row.method), fmt::format("{}", seeds),
                          percent(summary_of(results, start, "accuracy")), format_summary(row.accuracy, 2),
                          format_summary(summary_of(results, start, "log_likelihood"), 3),
                          format_summary(row.log_likelihood, 2), format_summary(summary_of(results, start, "ece"), 3),
                          format_summary(row.ece, 3), format_summary(summary_of(results, start, "auroc"), 3),
                          format_summary(row.auroc, 3), format_summary(summary_of(results, start, "evidence"), 3),
                          minutes_of(results, start)});
  }
  return table;
}

/// Whether one training is better than another by log likelihood, ECE and OOD-AUC, a case each.
void add_scores(std::vector<Case>& cases, const Results& results, const std::string& ours, const std::string& theirs,
                const std::string& words = "") {
  const auto both = [&](auto compare, const char* label, const char* key) {
    cases.push_back(
        compare(label + words, summary_of(results, ours, key), summary_of(results, theirs, key), 3, Margin::none));
  };
  both(higher, "log likelihood", "log_likelihood");
  both(lower, "ECE", "ece");
  both(higher, "OOD-AUC", "auroc");
}

std::vector<Claim> make_claims(const Results& results) {
  const std::string plain_base = start_of(false, ImageMethod::weight_decay);
  const std::string base = start_of(true, ImageMethod::weight_decay);
  std::vector<Case> likelihood, calibration, outside, alone, accuracy, structure, own;
  for (const ImageMethod method : {ImageMethod::diagonal_ef, ImageMethod::kron}) {
    for (const bool augment : {false, true}) {
      const std::string ours = start_of(augment, method), theirs = augment ? base : plain_base;
      const std::string label = fmt::format("{} {}", name_of(method), words_of(augment));
      likelihood.push_back(
          higher(label, summary_of(results, ours, "log_likelihood"), summary_of(results, theirs, "log_likelihood")));
      calibration.push_back(lower(label, summary_of(results, ours, "ece"), summary_of(results, theirs, "ece")));
      outside.push_back(higher(label, summary_of(results, ours, "auroc"), summary_of(results, theirs, "auroc")));
    }
    accuracy.push_back(higher(name_of(method), accuracy_of(results, start_of(true, method)), accuracy_of(results, base),
                              4, Margin::within_errors));
  }
  for (const bool augment : {false, true})
    add_scores(own, results, start_of(augment, ImageMethod::kron_expand), augment ? base : plain_base,
               " " + words_of(augment));
  add_scores(alone, results, start_of(false, ImageMethod::diagonal_ef), base);
  for (const bool augment : {false, true})
    structure.push_back(higher(words_of(augment),
                               summary_of(results, start_of(augment, ImageMethod::diagonal_ef), "log_likelihood"),
                               summary_of(results, start_of(augment, ImageMethod::kron), "log_likelihood")));
  const char* means = "means over the seeds, against weight decay with the same augmentation";
  return {
      claim_of("With and without augmentation, the test log likelihood is better than the baseline's.", means,
               likelihood),
      claim_of("With and without augmentation, the calibration (ECE) is better than the baseline's.", means,
               calibration),
      claim_of("With and without augmentation, out-of-distribution detection is better than the baseline's.", means,
               outside),
      claim_of("Without augmentation the method (diag EF) is better than the baseline with augmentation.",
               "means over the seeds: log likelihood, ECE and OOD-AUC", alone),
      claim_of("With augmentation it matches the baseline's accuracy.",
               "not lower by more than two combined standard errors (seeds and finite test set)", accuracy),
      claim_of("Diagonal EF performs better here than the Kronecker-factored GGN.",
               "test log likelihood, means over the seeds", structure),
      claim_of("(ockham's, not the paper's) Likelihood, calibration and out-of-distribution detection are better than "
               "the baseline's by ockham's own rule for the positions of a convolution (kron GGN, expand).",
               means, own),
  };
}

Plot bar_plot(const Results& results, const char* key, const char* title, double factor) {
  Plot plot;
  plot.title = title;
  plot.categories = {"without DA", "with DA"};
  plot.width = 420;
  for (const ImageMethod method :
       {ImageMethod::weight_decay, ImageMethod::diagonal_ef, ImageMethod::kron, ImageMethod::kron_expand}) {
    BarSeries bars;
    bars.name = name_of(method);
    for (const bool augment : {false, true}) {
      const Summary summary = summary_of(results, start_of(augment, method), key);
      bars.height.push_back(factor * summary.mean);
      bars.error.push_back(factor * summary.error);
    }
    const bool there =
        std::any_of(bars.height.begin(), bars.height.end(), [](double mean) { return std::isfinite(mean); });
    if (there) plot.bars.push_back(bars);
  }
  return plot;
}

Presentation make_presentation(const Settings& settings, const Results& all_results) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  const Results results = of_scale(all_results, scale);
  Presentation presentation;
  presentation.claims = make_claims(results);
  presentation.tables = {score_table(results)};
  if (!results.empty()) {
    std::vector<Plot> plots = {bar_plot(results, "log_likelihood", "Test log likelihood ↑", 1),
                               bar_plot(results, "accuracy", "Test accuracy in % ↑", 100),
                               bar_plot(results, "ece", "ECE ↓", 1)};
    if (summary_of(results, start_of(false, ImageMethod::diagonal_ef), "auroc").count > 0)
      plots.push_back(bar_plot(results, "auroc", "OOD-AUC ↑", 1));
    presentation.figures = {{"ResNet-20 with and without data augmentation (DA)", draw(plots, 2),
                             "Means over the seeds, standard errors as bars."}};
  }
  presentation.notes = {
      scale_words(scale, of_paper),
      "Augmentation: random crops after padding by 4 pixels, and flips, anew in every epoch; the likelihood then has "
      "the "
      "weight 5 in training and evidence, except for weight decay.",
      "Curvature passes see the images as they are, without augmentation; the paper does not say what its own see.",
      resnet_words(scale),
      fmt::format("F = {}, K = 100, B = {}, γ = 1; the best state of the last tenth of the "
                  "epochs. Weight decay is 5e-4.",
                  frequency_for(scale.epochs, 10), burn_in_for(scale)),
      "The paper uses SVHN's validation images as those outside; here they are the test images of the directory svhn*.",
      "Cells without augmentation are those of `images`: one --out computes them once.",
      "kron GGN follows the paper's rule for the positions of a convolution, `expand` is ockham's own; the paper has "
      "no "
      "such row. The claim on it was added when its numbers without augmentation were known for 4,000 images and 24 "
      "epochs, and before any with augmentation or of more epochs.",
  };
  add_closing_notes(presentation, settings, results, {"cifar-10", "svhn"},
                    "--quick trains a much smaller network (depth 8, width 8).");
  return presentation;
}

}  // namespace

Experiment augmentation() {
  return {
      "augmentation",
      "ResNet-20 on CIFAR-10 with and without data augmentation: likelihood, accuracy, ECE, OOD-AUC",
      "Figure on ResNet-20 with augmentation and its appendix table",
      "cifar-10/, svhn*/ (without it there is no OOD-AUC)",
      "weeks in full; --train-size 4000 --epochs 100 --splits 1 about half an hour on two idle cores; --quick 1 min",
      make_cells,
      make_presentation};
}

}  // namespace ockham::paper
