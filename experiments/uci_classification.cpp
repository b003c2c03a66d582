// uci-classification: the appendix's table of UCI classification.
#include <fmt/format.h>

#include "experiments/experiment.h"
#include "experiments/uci_classification_tables.h"
#include "experiments/uci_data.h"
#include "experiments/uci_results.h"
#include "experiments/uci_training.h"
#include "experiments/uci_validation.h"
#include "ockham/select/grid_search.h"

namespace ockham::paper {
namespace {

constexpr int64_t kFullEpochs = 10000, kQuickEpochs = 300, kFullSplits = 10, kQuickSplits = 1;
constexpr int64_t kQuickRows = 800;  // larger tables are left out of --quick

/// Curvature passes of the full structure are rare where they are dear: every F epochs with F steps each.
int64_t full_frequency(const std::string& set) {
  if (set == "digits" || set == "satellite") return 100;
  return set == "waveform" || set == "vehicle" ? 10 : 1;
}

int64_t epochs_for(const Settings& settings) {
  return settings.epochs > 0 ? settings.epochs : settings.quick ? kQuickEpochs : kFullEpochs;
}

UciTraining training_for(const Settings& settings, const UciTable& table, const UciMethod& method) {
  UciTraining training;
  training.seed = settings.seed;
  training.memory = settings.memory;
  training.epochs = epochs_for(settings);
  if (settings.quick) training.learning_rate = 1e-2;
  if (method.structure == Structure::full) training.frequency = training.hyper_steps = full_frequency(table.name);
  return training;
}

UciValidation validation_for(const Settings& settings) {
  UciValidation validation;
  validation.precisions = GridSearchOptions::logarithmic_grid(1e-2, 1e2, settings.quick ? 3 : 10);
  validation.epochs = std::min<int64_t>(validation.epochs, settings.quick ? 200 : epochs_for(settings));
  validation.seed = settings.seed;
  validation.memory = settings.memory;
  return validation;
}

MeanFieldOptions mean_field_for(const Settings& settings) {
  MeanFieldOptions options;
  options.epochs = epochs_for(settings);
  options.seed = settings.seed;
  return options;
}

int64_t count_classes(const UciTable& table) {
  EncodingOptions options;
  options.task = Task::classification;
  return static_cast<int64_t>(learn_encoding(*table.table, options).classes.size());
}

std::vector<Cell> make_cells(const Settings& settings) {
  const int64_t splits = settings.splits > 0 ? settings.splits : settings.quick ? kQuickSplits : kFullSplits;
  const UciValidation validation = validation_for(settings);
  const MeanFieldOptions mean_field = mean_field_for(settings);
  std::vector<Cell> cells;
  for (const UciTable& table : read_uci_tables(settings.data, classification_sets())) {
    if (settings.quick && table.rows() > kQuickRows) continue;
    const int64_t classes = count_classes(table);
    UciTraining plain;
    const UciMethod& cheap = uci_methods().back();
    for (int64_t split = 0; split < splits; ++split) {
      const auto encode = [table, split, seed = settings.seed] {
        return encode_split(table, classification_split(table, split, seed), Task::classification);
      };
      for (const UciMethod& method : uci_methods()) {
        const UciTraining training = training_for(settings, table, method);
        cells.push_back({uci_cell_name(table.name, method.name, split), settings_of(training, table, method, split),
                         uci_cost(training, table, method, classes), [=](const CellContext& context) {
                           return train_uci(context, encode(), training, method, split);
                         }});
      }
      plain.epochs = validation.epochs * static_cast<int64_t>(validation.precisions.size());
      cells.push_back({uci_cell_name(table.name, "cv", split), settings_of(validation, table, split),
                       2 * uci_cost(plain, table, cheap, classes),
                       [=](const CellContext& context) { return validate_uci(context, encode(), validation, split); }});
      plain.epochs = mean_field.epochs;
      cells.push_back({uci_cell_name(table.name, "mean-field", split), settings_of(mean_field, table, split),
                       4 * uci_cost(plain, table, cheap, classes), [=](const CellContext& context) {
                         return infer_mean_field(context, encode(), mean_field, split);
                       }});
    }
  }
  return cells;
}

}  // namespace

Experiment uci_classification() {
  return {"uci-classification",
          "UCI classification: the evidence against cross-validation and mean-field inference",
          "the appendix's app:tab:uci_classification (tab:nll1t, tab:acc1t, tab:ece1t, tab:nllcdiag)",
          "any of australian, breast_cancer, ionosphere, glass, vehicle, waveform, digits and satellite as NAME.csv "
          "(class last), in --data or --data/uci",
          "about 5 h on two cores with 10 splits; --quick about 1 min",
          make_cells,
          present_uci_classification};
}

}  // namespace ockham::paper
