// uci-regression: Table 1 of the paper and its two tables in the appendix.
#include <fmt/format.h>

#include "experiments/experiment.h"
#include "experiments/uci_baseline.h"
#include "experiments/uci_data.h"
#include "experiments/uci_regression_tables.h"
#include "experiments/uci_results.h"
#include "experiments/uci_training.h"

namespace ockham::paper {
namespace {

constexpr int64_t kFullEpochs = 10000, kQuickEpochs = 500, kFullSplits = 10, kQuickSplits = 2;
constexpr int64_t kQuickRows = 2000;      // larger tables are left out of --quick
constexpr int64_t kExpensiveRows = 5000;  // full structure: F = 10 beyond it

UciTraining training_for(const Settings& settings, const UciTable& table, const UciMethod& method) {
  UciTraining training;
  training.seed = settings.seed;
  training.memory = settings.memory;
  training.epochs = settings.epochs > 0 ? settings.epochs : settings.quick ? kQuickEpochs : kFullEpochs;
  if (settings.quick) training.learning_rate = 1e-2;  // what a twentieth of the epochs needs
  if (method.structure == Structure::full && table.rows() > kExpensiveRows)
    training.frequency = training.hyper_steps = 10;
  return training;
}

std::vector<Cell> make_cells(const Settings& settings) {
  const int64_t splits = settings.splits > 0 ? settings.splits : settings.quick ? kQuickSplits : kFullSplits;
  const UciBaseline baseline = regression_baseline(settings);
  std::vector<Cell> cells;
  for (const UciTable& table : read_uci_tables(settings.data, regression_sets())) {
    if (settings.quick && table.rows() > kQuickRows) continue;
    for (int64_t split = 0; split < splits; ++split) {
      const auto encode = [table, split, seed = settings.seed] {
        return encode_split(table, regression_split(table, split, seed), Task::regression);
      };
      for (const UciMethod& method : uci_methods()) {
        const UciTraining training = training_for(settings, table, method);
        cells.push_back({uci_cell_name(table.name, method.name, split), settings_of(training, table, method, split),
                         uci_cost(training, table, method, 1), [=](const CellContext& context) {
                           return train_uci(context, encode(), training, method, split);
                         }});
      }
      cells.push_back({uci_cell_name(table.name, "cv-map", split), settings_of(baseline, table, split),
                       baseline_cost(baseline, table),
                       [=](const CellContext& context) { return search_uci(context, encode(), baseline, split); }});
    }
  }
  return cells;
}

}  // namespace

Experiment uci_regression() {
  return {
      "uci-regression",
      "UCI regression: the evidence against cross-validation",
      "Table 1 (tab:uci_regression) and the appendix's tab:app:nll_regression_bayes and tab:app:nll_regression_diag",
      "any of boston, concrete, energy, kin8nm, naval, power, wine-quality-red and yacht as NAME.csv (target last), in "
      "--data or --data/uci; splits/NAME.json beside them are used, else splits are drawn by the seed",
      "about 5 h on two cores with 10 splits; --quick about 2 min",
      make_cells,
      present_uci_regression};
}

}  // namespace ockham::paper
