#include "ockham/select/grid_search.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ockham/base/error.h"

namespace ockham {
namespace {

void check(const std::vector<GridCandidate>& candidates, const GridSearchOptions& options) {
  if (candidates.empty()) {
    throw Error(ErrorKind::usage, "the grid search has no networks to try: give at least one candidate");
  }
  if (options.precisions.empty()) {
    throw Error(ErrorKind::usage, "the grid search has no prior precisions to try: give at least one");
  }
  for (double precision : options.precisions) {
    if (precision > 0 && std::isfinite(precision)) continue;
    throw Error(ErrorKind::usage,
                fmt::format("a prior precision must be positive and finite, but {} is in the grid", precision));
  }
}

Dataset rows_of(const Dataset& data, const at::Tensor& rows) {
  return Dataset(data.inputs().index_select(0, rows), data.targets().index_select(0, rows));
}

Model model_at(const GridCandidate& candidate, uint64_t restart, double precision) {
  Model model = candidate.make_model(restart);
  model.hyperparameters = model.hyperparameters.clone();
  model.hyperparameters.log_prior_precision = at::full({model.prior.size()}, std::log(precision), at::kDouble);
  return model;
}

class Search {
 public:
  Search(const std::vector<GridCandidate>& candidates, const Dataset& data, const GridSearchOptions& options,
         const GridSearchWatcher& watcher)
      : candidates_(candidates),
        data_(data),
        options_(options),
        watcher_(watcher),
        splits_(split_for_validation(data.size(), options.validation)),
        planned_(static_cast<int64_t>(candidates.size() * options.precisions.size() * splits_.size()) + 1) {}

  GridSearchResult run() {
    for (size_t candidate = 0; candidate < candidates_.size(); ++candidate) {
      // Targets are checked once on the whole data set, so that a complaint names the row that the user knows.
      const Dataset prepared = prepare_data(candidates_[candidate].make_model(0), data_);
      for (double precision : options_.precisions) {
        score(candidate, precision, prepared);
        if (result_.interrupted) return result_;
      }
    }
    choose_best();
    if (result_.best) train_on_everything();
    return result_;
  }

 private:
  MapTraining train(const Model& model, const Dataset& data, const GridSetting& setting, uint64_t restart) {
    MapTrainingOptions options = options_.training;
    options.candidate = setting.candidate;
    options.restart = restart;
    const MapTraining training = train_map(model, data, options, [&](int64_t epoch) {
      return !watcher_ || watcher_({result_.trainings, planned_, setting.candidate, setting.precision, epoch});
    });
    ++result_.trainings;
    result_.interrupted = training.interrupted;
    return training;
  }

  void score(size_t candidate, double precision, const Dataset& prepared) {
    GridSetting setting;
    setting.candidate = candidate;
    setting.precision = precision;
    double sum = 0;
    int64_t examples = 0;
    for (size_t fold = 0; fold < splits_.size() && setting.failure.empty(); ++fold) {
      Model model = model_at(candidates_[candidate], fold, precision);
      const Dataset validation = rows_of(prepared, splits_[fold].validation);
      const MapTraining training = train(model, rows_of(prepared, splits_[fold].training), setting, fold);
      setting.seconds += training.seconds;
      if (training.interrupted) return;
      setting.failure = training.failure;
      if (!setting.failure.empty()) break;
      model.hyperparameters = training.hyperparameters;
      if (options_.noise == PredictiveNoise::validation) {
        model.hyperparameters = fit_noise(model, validation, options_.training.smallest_noise);
      }
      const double nll = map_nll(model, validation);
      if (!std::isfinite(nll)) setting.failure = "the validation likelihood is not finite";
      setting.fold_nlls.push_back(nll);
      const at::Tensor share = model.hyperparameters.log_noise / static_cast<double>(splits_.size());
      setting.log_noise = setting.log_noise.defined() ? setting.log_noise + share : share;
      sum += nll * static_cast<double>(validation.size());
      examples += validation.size();
    }
    if (setting.failure.empty()) setting.nll = sum / static_cast<double>(examples);
    result_.settings.push_back(setting);
  }

  void choose_best() {
    const auto best = std::min_element(result_.settings.begin(), result_.settings.end(),
                                       [](const GridSetting& a, const GridSetting& b) { return a.nll < b.nll; });
    if (!best->failure.empty()) {
      result_.failure = fmt::format("every setting of the grid failed; the first because {}", best->failure);
      return;
    }
    result_.best = static_cast<size_t>(best - result_.settings.begin());
    const auto [least, most] = std::minmax_element(options_.precisions.begin(), options_.precisions.end());
    if (options_.precisions.size() > 1 && (best->precision == *least || best->precision == *most)) {
      result_.warnings.push_back(
          fmt::format("the best prior precision, {:g}, is at the end of the grid: a wider grid may have a better one",
                      best->precision));
    }
  }

  void train_on_everything() {
    const GridSetting& best = result_.settings[*result_.best];
    Model model = model_at(candidates_[best.candidate], 0, best.precision);
    const MapTraining training = train(model, data_, best, 0);
    if (training.interrupted) return;
    result_.failure = training.failure;
    if (!training.failure.empty()) return;
    model.hyperparameters = training.hyperparameters;
    if (options_.noise == PredictiveNoise::validation) model.hyperparameters.log_noise = best.log_noise;
    result_.model = model;
  }

  const std::vector<GridCandidate>& candidates_;
  const Dataset& data_;
  const GridSearchOptions& options_;
  const GridSearchWatcher& watcher_;
  const std::vector<ValidationSplit> splits_;
  const int64_t planned_;
  GridSearchResult result_;
};

}  // namespace

std::vector<double> GridSearchOptions::logarithmic_grid(double first, double last, int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const double share = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0;
    values.push_back(std::pow(10, std::log10(first) + share * (std::log10(last) - std::log10(first))));
  }
  return values;
}

GridSearchResult grid_search(const std::vector<GridCandidate>& candidates, const Dataset& data,
                             const GridSearchOptions& options, const GridSearchWatcher& watcher) {
  const auto start = std::chrono::steady_clock::now();
  check(candidates, options);
  GridSearchResult result = Search(candidates, data, options, watcher).run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace ockham
