// minibatch: what the lower bound from batches costs, against the size of the batches.
#include <fmt/format.h>

#include <cmath>

#include "experiments/minibatch_cells.h"
#include "experiments/uci_results.h"

namespace ockham::paper {
namespace {

constexpr double kNear = 0.1;

std::string percent(const Summary& ratio) {
  return ratio.count == 0 ? "–" : fmt::format("{:+.1f} %", 100 * (ratio.mean - 1));
}

Table fixed_table(const UciResults& results, const std::string& set) {
  Table table{
      fmt::format("{}: optimal hyperparameters of the bound at the same weights", set),
      {"batch", "batches", "gap, nats", "gap an example", "gap, share of the evidence", "noise σ", "precisions δ",
       "farthest δ", "effective parameters", "evidence lost, nats", "test NLL"},
      {},
      "Relative to the optimum of the evidence; means over the splits. Effective parameters are the sum over the "
      "batches; what counts twice is what two batches determine."};
  const double examples = results.summary(set, "fixed", "examples").mean,
               evidence = results.summary(set, "fixed", "evidence").mean;
  for (const BatchSize& size : batch_sizes()) {
    const auto of = [&](const char* key) {
      return results.summary(set, "fixed", fmt::format("{} {}", key, size.name));
    };
    if (of("gap").count == 0) continue;
    table.rows.push_back({size.title, format_number(of("batches").mean, 0), format_summary(of("gap"), 1),
                          format_number(of("gap").mean / examples, 3),
                          fmt::format("{:.1f} %", 100 * of("gap").mean / examples / std::abs(evidence)),
                          percent(of("noise")), percent(of("precision")), fmt::format("× {:.2f}", of("farthest").mean),
                          format_number(of("effective").mean, 1), format_summary(of("lost"), 2),
                          format_summary(of("nll"), 3)});
  }
  return table;
}

Table online_table(const UciResults& results, const std::string& set) {
  Table table{fmt::format("{}: trained with batches of that size", set),
              {"batch", "evidence an example", "bound an example", "noise σ", "precisions δ", "test NLL",
               "seconds for evidences"},
              {},
              "Evidence of all data at the end of each training; σ in the target's units, δ the geometric mean."};
  for (const BatchSize& size : batch_sizes()) {
    const std::string method = "online-" + size.name;
    if (results.splits(set, method) == 0) continue;
    const auto text = [&](const char* key, int decimals) {
      return format_summary(results.summary(set, method, key), decimals);
    };
    table.rows.push_back({size.title, text("evidence", 3), text("bound", 3), text("noise", 4), text("precision", 3),
                          text("nll", 3), text("seconds_curvature", 1)});
  }
  return table;
}

/// Whether a number at half the data is within a tenth of that of the evidence.
Claim near_at_half(const UciResults& results, const char* key, const std::string& what, const BatchSize& size) {
  Tally tally;
  std::string numbers;
  for (const std::string& set : minibatch_sets()) {
    const Summary ratio = results.summary(set, "fixed", fmt::format("{} {}", key, size.name));
    if (ratio.count == 0) continue;
    tally.add(std::abs(ratio.mean - 1) <= kNear, set);
    numbers += fmt::format("{}{} {}", numbers.empty() ? "" : ", ", set, percent(ratio));
  }
  return {
      fmt::format("In batches of {} the optimal {} is within 10 % of that of the evidence (rule: mean over the splits, "
                  "every set)",
                  size.title, what),
      tally.verdict(1), numbers.empty() ? "nothing computed" : numbers};
}

Claim below_the_evidence(const UciResults& results) {
  Tally tally;
  for (const std::string& set : minibatch_sets())
    for (const BatchSize& size : batch_sizes())
      for (const double gap : results.values(set, "fixed", "gap " + size.name))
        if (std::isfinite(gap)) tally.add(gap > -1e-6, set + " " + size.title);
  return {"The bound is never above the evidence (rule: every set, size and split)", tally.verdict(1), tally.text()};
}

Presentation make_presentation(const Settings&, const Results& all) {
  const UciResults results(all);
  Presentation presentation;
  presentation.claims = {below_the_evidence(results)};
  for (const BatchSize& size : batch_sizes()) {
    if (size.parts != 2) continue;
    presentation.claims.push_back(near_at_half(results, "noise", "noise", size));
    presentation.claims.push_back(near_at_half(results, "precision", "prior precision", size));
  }
  for (const std::string& set : minibatch_sets()) {
    if (results.summary(set, "fixed", "examples").count > 0) presentation.tables.push_back(fixed_table(results, set));
    if (results.splits(set, "online-whole") > 0) presentation.tables.push_back(online_table(results, set));
  }
  presentation.notes = {
      "mlp:50 with ReLU, full GGN, one precision for the weights and biases of each layer, float64; Adam on all rows, "
      "rate 0.005 falling to 0 by a cosine; one step of size 0.01 on the hyperparameters an epoch.",
      "Shared: that part of a batch are its companions, examples of batches before it whose inputs are near its own.",
      "Fixed weights: 750 Adam steps on the bound of one random partition, with steps from 0.1 down to 0.001."};
  return presentation;
}

}  // namespace

Experiment minibatch() {
  return {
      "minibatch",
      "Lower bounds of the evidence from batches, against the size of the batches",
      "not in the paper: the estimator of its follow-up of 2023 (neural tangent kernels of batches)",
      "energy.csv and boston.csv (target last), in --data or --data/uci, with splits/NAME.json as in uci-regression",
      "about 15 min on two cores; --quick half a minute",
      minibatch_cells,
      make_presentation};
}

}  // namespace ockham::paper
