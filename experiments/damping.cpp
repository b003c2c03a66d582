// The paper's ablation of damping (appendix, tab:app:kron_ablation): Kronecker-factored evidence with and without it.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/image_cell.h"
#include "experiments/image_data.h"
#include "experiments/image_summary.h"
#include "experiments/image_table.h"
#include "experiments/plot.h"

namespace ockham::paper {
namespace {

const ImageScale of_paper{300, 5, 0, 0, true, false};
const std::vector<ImageMethod> methods = {ImageMethod::kron, ImageMethod::kron_damped};

/// What the paper's table has: first without, then with damping.
struct PaperRow {
  const char *set, *word;
  Summary accuracy[2], log_likelihood[2], evidence[2];
};
const std::vector<PaperRow> paper_rows = {
    {"mnist",
     "mlp",
     {{98.38, 0.04, 5}, {95.89, 0.11, 5}},
     {{-0.053, 0.002, 5}, {-0.141, 0.004, 5}},
     {{-0.158, 0.001, 5}, {-2.199, 0.008, 5}}},
    {"mnist",
     "cnn",
     {{99.46, 0.01, 5}, {98.78, 0.09, 5}},
     {{-0.016, 0.001, 5}, {-0.040, 0.002, 5}},
     {{-0.064, 0.000, 5}, {-1.022, 0.017, 5}}},
    {"fashion-mnist",
     "mlp",
     {{89.83, 0.14, 5}, {84.12, 0.23, 5}},
     {{-0.305, 0.006, 5}, {-0.444, 0.008, 5}},
     {{-0.468, 0.002, 5}, {-2.022, 0.026, 5}}},
    {"fashion-mnist",
     "cnn",
     {{92.06, 0.10, 5}, {89.54, 0.10, 5}},
     {{-0.233, 0.004, 5}, {-0.296, 0.003, 5}},
     {{-0.401, 0.001, 5}, {-2.424, 0.013, 5}}},
    {"cifar-10",
     "cnn",
     {{80.46, 0.10, 5}, {76.38, 0.50, 5}},
     {{-0.644, 0.010, 5}, {-0.690, 0.014, 5}},
     {{-0.967, 0.003, 5}, {-4.232, 0.068, 5}}},
};

const PaperRow* paper_row(const SetAndNetwork& problem) {
  for (const PaperRow& row : paper_rows)
    if (std::string(row.set) == problem.set && std::string(row.word) == problem.word) return &row;
  return nullptr;
}

/// The networks of the paper's table: without the ResNet.
std::vector<SetAndNetwork> networks() {
  std::vector<SetAndNetwork> found;
  for (const SetAndNetwork& problem : table_networks())
    if (paper_row(problem)) found.push_back(problem);
  return found;
}

std::vector<Cell> make_cells(const Settings& settings) {
  return table_cells(settings, image_scale(settings, of_paper.epochs, of_paper.seeds), methods,
                     [](const SetAndNetwork& problem, ImageMethod) { return paper_row(problem) != nullptr; });
}

Table score_table(const Results& results) {
  Table table{
      "Kronecker GGN without and with damping: test scores (MAP predictive) and evidence per image",
      {"set", "network", "damping", "seeds", "accuracy %", "paper", "log likelihood", "paper", "evidence", "paper"},
      {},
      "± is the standard error over seeds."};
  for (const SetAndNetwork& problem : networks())
    for (size_t m = 0; m < methods.size(); ++m) {
      const std::string start = start_of(problem, methods[m]);
      const size_t seeds = seeds_of(results, start).size();
      if (seeds == 0) continue;
      table.rows.push_back({problem.set, problem.word, m == 0 ? "no" : "yes", fmt::format("{}", seeds),
                            percent(summary_of(results, start, "accuracy")),
                            format_summary(paper_row(problem)->accuracy[m], 2),
                            format_summary(summary_of(results, start, "log_likelihood"), 3),
                            format_summary(paper_row(problem)->log_likelihood[m], 3),
                            format_summary(summary_of(results, start, "evidence"), 3),
                            format_summary(paper_row(problem)->evidence[m], 3)});
    }
  return table;
}

std::vector<Claim> make_claims(const Results& results) {
  std::vector<Case> likelihood, accuracy, evidence;
  for (const SetAndNetwork& problem : networks()) {
    const std::string plain = start_of(problem, ImageMethod::kron),
                      damped = start_of(problem, ImageMethod::kron_damped);
    const std::string label = fmt::format("{} {}", problem.set, problem.word);
    likelihood.push_back(
        higher(label, summary_of(results, plain, "log_likelihood"), summary_of(results, damped, "log_likelihood")));
    accuracy.push_back(higher(label, accuracy_of(results, plain), accuracy_of(results, damped), 4));
    evidence.push_back(higher(label, summary_of(results, plain, "evidence"), summary_of(results, damped, "evidence")));
  }
  const char* means = "without damping higher than with it, means over the seeds";
  return {claim_of("Damping makes the test log likelihood worse.", means, likelihood),
          claim_of("Damping makes the accuracy worse.", means, accuracy),
          claim_of("Damping makes the evidence lower.", means, evidence)};
}

Plot bar_plot(const Results& results, const char* key, const char* title) {
  Plot plot;
  plot.title = title;
  plot.y.label = "per image";
  for (const SetAndNetwork& problem : networks())
    if (!seeds_of(results, start_of(problem, ImageMethod::kron)).empty())
      plot.categories.push_back(fmt::format("{} {}", problem.set, problem.word));
  for (const ImageMethod method : methods) {
    BarSeries bars;
    bars.name = method == ImageMethod::kron ? "without damping" : "with damping";
    for (const SetAndNetwork& problem : networks()) {
      if (seeds_of(results, start_of(problem, ImageMethod::kron)).empty()) continue;
      const Summary summary = summary_of(results, start_of(problem, method), key);
      bars.height.push_back(summary.mean);
      bars.error.push_back(summary.error);
    }
    plot.bars.push_back(bars);
  }
  return plot;
}

Presentation make_presentation(const Settings& settings, const Results& all_results) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  const Results results = of_scale(all_results, scale);
  Presentation presentation;
  presentation.claims = make_claims(results);
  presentation.tables = {score_table(results)};
  if (!results.empty())
    presentation.figures = {
        {"With and without damping",
         draw({bar_plot(results, "log_likelihood", "Test log likelihood"), bar_plot(results, "evidence", "Evidence")},
              2),
         "Means over the seeds, standard errors as bars. Higher is better."}};
  presentation.notes = {
      scale_words(scale, of_paper),
      fmt::format("As in `images`, with which it shares cells: F = {}, K = 100, B = {}, γ = 1, the paper's rule for "
                  "the positions of a convolution, the best "
                  "state of the last tenth of the epochs.",
                  frequency_for(scale.epochs, 10), burn_in_for(scale)),
      "Damping is (Q + √δ I) ⊗ (W + √δ I) instead of Q ⊗ W + δ I, with 1/N in the input factor.",
  };
  add_closing_notes(presentation, settings, results, table_sets(),
                    "--quick trains much smaller networks than the paper's.");
  return presentation;
}

}  // namespace

Experiment damping() {
  return {"damping",
          "Kronecker-factored evidence with and without damping",
          "appendix, ablation of damping",
          "mnist/, fashion-mnist/, cifar-10/ (what is there)",
          "about a week in full; --train-size 4000 --epochs 24 --splits 1 about 15 min on two idle cores (6 min in "
          "the --out of `images` of that scale); --quick 1 min",
          make_cells,
          make_presentation};
}

}  // namespace ockham::paper
