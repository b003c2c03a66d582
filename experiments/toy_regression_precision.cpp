// A scalar prior, so that the grid has one dimension.
#include "experiments/toy_regression_precision.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/table_text.h"

namespace ockham::paper {
namespace {

constexpr double kFirstDecade = -3, kLastDecade = 2;
constexpr double kGridStep = 0.25;  // decades; the top is so flat that half a decade does not find its middle
constexpr double kQuickStep = 0.5;
constexpr double kNear = 0.5;     // decades between the grid's best and an online run that arrives
constexpr double kAsGood = 0.05;  // nats per test example

std::string fixed_name(const std::string& settings, uint64_t seed, double decade) {
  return fmt::format("precision/{}/seed={}/fixed={:.2f}", settings, seed, decade);
}
std::string online_name(const std::string& settings, uint64_t seed, double start) {
  return fmt::format("precision/{}/seed={}/online={:.0f}", settings, seed, std::log10(start));
}

std::vector<double> decades(const Settings& settings) {
  std::vector<double> all;
  const double step = settings.quick ? kQuickStep : kGridStep;
  for (double decade = kFirstDecade; decade <= kLastDecade; decade += step) all.push_back(decade);
  return all;
}

ToyNetwork deep_network(uint64_t seed, double precision) {
  return {"mlp:50-50-50,act=tanh", seed, ToyPrior::scalar, precision};
}

// The same training of the weights; the noise, the only hyperparameter left, is brought to its optimum by few passes
// with many steps instead of many passes with few.
OnlineOptions fixed_precision(const OnlineOptions& online) {
  OnlineOptions options = online;
  options.hyper.learn_prior = false;
  options.frequency = 20;
  options.hyper.steps = 20;
  options.hyper.step_size = 0.05;
  return options;
}

/// Counts over all groups of one of the settings.
struct Count {
  int groups = 0, complete = 0;
  int runs = 0, arrived = 0, predicted = 0;  // online runs: all, near the grid's best, as good on test data
  int chosen = 0;                            // groups whose best evidence is as good on test data as the grid's best
  int overfit = 0, underfit = 0;             // groups at whose ends it is so
  double furthest = 0;                       // decades
  double worst_choice = 0;                   // nats per test example above the lowest
};

bool overfits(const Json& low, const Json& best) {
  return number(low, "train_nll") < number(best, "train_nll") && number(low, "test_nll") > number(best, "test_nll");
}
bool underfits(const Json& high, const Json& best) {
  return number(high, "train_nll") > number(best, "train_nll") && number(high, "test_nll") > number(best, "test_nll");
}

void count_group(const PrecisionGroup& group, Count& count) {
  const FixedRun *best = group.best(), *by_test = group.best_by_test();
  if (!best || !by_test) return;
  ++count.groups;
  count.complete += group.complete;
  const double lowest = number(*by_test->result, "test_nll");
  const double excess = number(*best->result, "test_nll") - lowest;
  count.chosen += excess <= kAsGood;
  count.worst_choice = std::max(count.worst_choice, excess);
  count.overfit += overfits(*group.fixed.front().result, *best->result);
  count.underfit += underfits(*group.fixed.back().result, *best->result);
  for (const OnlineRun& run : group.online) {
    const double apart = std::abs(run.decade() - best->decade);
    ++count.runs;
    count.arrived += apart <= kNear;
    count.predicted += number(*run.result, "test_nll") - lowest <= kAsGood;
    count.furthest = std::max(count.furthest, apart);
  }
}

void add_row(const PrecisionGroup& group, Table& table) {
  const FixedRun* best = group.best();
  if (!best) return;
  std::vector<std::string> row = {
      group.settings, std::to_string(group.seed),
      fmt::format("{:.3g}, {:.2f}, {:.3f}", std::pow(10, best->decade), number(*best->result, "log_evidence"),
                  number(*best->result, "test_nll"))};
  for (const double start : toy_starts) {
    std::string text = "–";
    for (const OnlineRun& run : group.online)
      if (run.start == start)
        text = fmt::format("{:.3g}, {:.2f}, {:.3f}{}", std::pow(10, run.decade()), number(*run.result, "log_evidence"),
                           number(*run.result, "test_nll"), std::abs(run.decade() - best->decade) <= kNear ? "" : " *");
    row.push_back(text);
  }
  table.rows.push_back(row);
}

Verdict judge(const std::vector<Count>& counts, int64_t seeds, int Count::*holding, int Count::*of) {
  for (const Count& count : counts)
    if (count.complete < seeds) return Verdict::open;
  const Count &paper = counts[0], &faster = counts[1];
  if (paper.*holding == paper.*of) return Verdict::yes;
  return faster.*holding == faster.*of || 2 * (paper.*holding) >= paper.*of ? Verdict::partly : Verdict::no;
}

void add_claims(const std::vector<Count>& counts, int64_t seeds, Presentation& out) {
  const Count &paper = counts[0], &faster = counts[1];
  out.claims.push_back(
      {"From prior precisions 1e-3, 1 and 1e2 the online algorithm converges to the optimum that a grid over fixed "
       "precisions finds.",
       judge(counts, seeds, &Count::arrived, &Count::runs),
       fmt::format("A run arrives within {} decades of the grid's best: {} of {} with the paper's settings (the "
                   "furthest is {:.2f} away), {} of {} with the faster ones ({:.2f}).",
                   kNear, paper.arrived, paper.runs, paper.furthest, faster.arrived, faster.runs, faster.furthest)});
  out.claims.push_back(
      {"The marginal likelihood identifies the prior precision with the best generalisation.",
       judge(counts, seeds, &Count::chosen, &Count::groups),
       fmt::format("The test NLL at the grid's highest evidence is within {} of the grid's lowest in {} of {} seeds "
                   "with the paper's settings, {} of {} with the faster ones; at most {:.3f} above it.",
                   kAsGood, paper.chosen, paper.groups, faster.chosen, faster.groups,
                   std::max(paper.worst_choice, faster.worst_choice))});
  out.claims.push_back({"The online algorithm reaches the optimal predictive performance without test data.",
                        judge(counts, seeds, &Count::predicted, &Count::runs),
                        fmt::format("The test NLL is within {} of the grid's lowest in {} of {} runs with the paper's "
                                    "settings, {} of {} with the faster ones.",
                                    kAsGood, paper.predicted, paper.runs, faster.predicted, faster.runs)});
  std::vector<Count> both = counts;
  for (Count& count : both) count.overfit += count.underfit, count.groups *= 2;
  out.claims.push_back(
      {"Precisions with a worse marginal likelihood overfit (1e-3) or underfit (1e2).",
       judge(both, seeds, &Count::overfit, &Count::groups),
       fmt::format("Against the best by evidence 1e-3 has a lower training and a higher test NLL in {} of {} seeds "
                   "({} of {} with the faster settings), 1e2 both higher in {} of {} ({} of {}).",
                   paper.overfit, paper.groups, faster.overfit, faster.groups, paper.underfit, paper.groups,
                   faster.underfit, faster.groups)});
}

}  // namespace

double OnlineRun::decade() const {
  const std::vector<double> precision = numbers(result->at("precision"));
  return precision.empty() ? NAN : std::log10(precision[0]);
}

const FixedRun* PrecisionGroup::best() const {
  const FixedRun* found = nullptr;
  for (const FixedRun& run : fixed)
    if (!found || number(*run.result, "log_evidence") > number(*found->result, "log_evidence")) found = &run;
  return found;
}

const FixedRun* PrecisionGroup::best_by_test() const {
  const FixedRun* found = nullptr;
  for (const FixedRun& run : fixed)
    if (!found || number(*run.result, "test_nll") < number(*found->result, "test_nll")) found = &run;
  return found;
}

std::vector<PrecisionSettings> precision_settings(const Settings& settings) {
  const int64_t epochs = toy_epochs(settings);
  PrecisionSettings paper{"paper", fmt::format("paper: {} epochs, F = 1, K = 1, step 0.01", epochs),
                          paper_settings(epochs)};
  const int64_t longer = epochs + epochs / 2;
  PrecisionSettings faster{"faster", fmt::format("faster: {} epochs, F = 5, K = 20, step 0.1", longer),
                           paper_settings(longer)};
  faster.online.frequency = 5;
  faster.online.hyper.steps = 20;
  faster.online.hyper.step_size = 0.1;
  return {paper, faster};
}

PrecisionGroup find_group(const Settings& settings, const Results& results, const std::string& name, uint64_t seed) {
  PrecisionGroup group{name, seed, {}, {}, true};
  for (const double decade : decades(settings)) {
    const Json* result = find_result(results, fixed_name(name, seed, decade));
    if (result) group.fixed.push_back({decade, result});
    group.complete &= result != nullptr;
  }
  for (const double start : toy_starts) {
    const Json* result = find_result(results, online_name(name, seed, start));
    if (result) group.online.push_back({start, result});
    group.complete &= result != nullptr;
  }
  return group;
}

std::vector<Cell> precision_cells(const Settings& settings) {
  std::vector<Cell> cells;
  for (const PrecisionSettings& one : precision_settings(settings))
    for (const uint64_t seed : toy_seeds(settings).all()) {
      OnlineOptions online = one.online;
      online.restart = seed;
      online.best_after = online.epochs;  // the figure compares the states after training
      for (const double decade : decades(settings))
        cells.push_back(
            make_regression_cell(settings, fixed_name(one.name, seed, decade), seed,
                                 deep_network(seed, std::pow(10, decade)), fixed_precision(online),
                                 decade == kFirstDecade || decade == kLastDecade ? Picture::kept : Picture::left_out));
      for (const double start : toy_starts)
        cells.push_back(make_regression_cell(settings, online_name(one.name, seed, start), seed,
                                             deep_network(seed, start), online, Picture::left_out));
    }
  return cells;
}

void present_precisions(const Settings& settings, const Results& results, Presentation& out) {
  const ToySeeds seeds = toy_seeds(settings);
  Table table{
      "The online algorithm against a grid of fixed prior precisions",
      {"settings", "seed", "best of the grid", "online from 1e-3", "from 1", "from 1e2"},
      {},
      "Prior precision, log evidence and test NLL (MAP) after the last epoch. Three hidden layers of 50 tanh, one "
      "prior precision for all weights; data seed = network seed. Fixed precisions learn the noise with F = 20, "
      "K = 20, step 0.05. *: more than half a decade from the best of the grid."};
  std::vector<Count> counts;
  for (const PrecisionSettings& one : precision_settings(settings)) {
    table.note += " " + one.title + ".";
    Count count;
    for (const uint64_t seed : seeds.all()) {
      const PrecisionGroup group = find_group(settings, results, one.name, seed);
      count_group(group, count);
      add_row(group, table);
    }
    counts.push_back(count);
  }
  add_claims(counts, seeds.count, out);
  add_precision_figures(settings, results, out);
  if (!table.rows.empty()) out.tables.push_back(table);
}

}  // namespace ockham::paper
