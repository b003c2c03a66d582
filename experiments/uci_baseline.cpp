#include "experiments/uci_baseline.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/select/grid_search.h"

namespace ockham::paper {

UciBaseline regression_baseline(const Settings& settings) {
  UciBaseline baseline;
  baseline.precisions = GridSearchOptions::logarithmic_grid(1e-3, 1e3, settings.quick ? 4 : 13);
  if (settings.quick) baseline.epochs = 200;
  if (settings.epochs > 0) baseline.epochs = std::min(baseline.epochs, settings.epochs);
  baseline.seed = settings.seed;
  baseline.memory = settings.memory;
  return baseline;
}

Json settings_of(const UciBaseline& baseline, const UciTable& table, int64_t split) {
  return {{"network", "mlp:50"},
          {"method", "grid search, a tenth of the training rows validates"},
          {"precisions", baseline.precisions},
          {"epochs", baseline.epochs},
          {"learning_rate", baseline.learning_rate},
          {"seed", baseline.seed},
          {"split", split},
          {"data", table.digest}};
}

Json search_uci(const CellContext& context, const EncodedSplit& data, const UciBaseline& baseline, int64_t split) {
  GridSearchOptions options;
  options.precisions = baseline.precisions;
  options.validation.seed = baseline.seed;
  options.training.epochs = baseline.epochs;
  options.training.optimiser.learning_rate = baseline.learning_rate;
  options.training.optimiser.schedule = LearningRateSchedule::cosine;
  options.training.map.shuffle = false;
  options.training.seed = baseline.seed;
  options.noise = PredictiveNoise::validation;
  const GridCandidate candidate{"mlp:50", [&](uint64_t restart) {
                                  return make_uci_model(data, {baseline.seed, split, restart, at::kFloat});
                                }};
  const GridSearchResult result =
      grid_search({candidate}, data.training, options, [&](const GridSearchProgress& progress) {
        const double done = static_cast<double>(progress.training) +
                            static_cast<double>(progress.epoch) / static_cast<double>(baseline.epochs);
        return !context.go_on || context.go_on(done / static_cast<double>(progress.trainings));
      });
  if (result.interrupted) throw Interrupted();
  if (!result.model) throw Error(ErrorKind::numerical, result.failure);
  LaplaceOptions laplace;
  laplace.curvature.structure = Structure::full;
  laplace.curvature.batch_size = 1024;
  laplace.curvature.memory_budget = baseline.memory;
  Model chosen = make_uci_model(data, {baseline.seed, split, 0, at::kDouble});  // the exact posterior needs it
  chosen.network.set_flat_parameters(result.model->network.flat_parameters());
  chosen.hyperparameters = result.model->hyperparameters;
  Json numbers = score_uci(chosen, data, laplace);
  numbers["precision"] = result.settings[*result.best].precision;
  numbers["noise"] =
      std::exp(result.model->hyperparameters.log_noise[0].item<double>()) * data.encoding.targets.front().sd;
  return numbers;
}

double baseline_cost(const UciBaseline& baseline, const UciTable& table) {
  const double weights = 50 * (static_cast<double>(table.features()) + 2);
  const double trainings = static_cast<double>(baseline.precisions.size() + 1);
  return 1e-9 * trainings * static_cast<double>(baseline.epochs) *
         (10 * static_cast<double>(table.rows()) * weights + 2e6);
}

}  // namespace ockham::paper
