#include "app/fit_baseline.h"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>

#include "app/durations.h"
#include "app/interrupt.h"

namespace ockham::app {
namespace {

GridSearchOptions search_options(const FitPlan& plan) {
  GridSearchOptions options;
  const OnlineOptions& online = plan.options.online;
  options.validation.scheme =
      plan.flags.baseline == BaselineChoice::folds ? ValidationScheme::folds : ValidationScheme::holdout;
  options.validation.seed = plan.flags.common.seed;
  options.training.epochs = online.epochs;
  options.training.optimiser = online.optimiser;
  options.training.map = online.map;
  options.training.seed = plan.flags.common.seed;
  return options;
}

}  // namespace

std::optional<FitBaseline> search_baseline(const FitPlan& plan, const FitData& data, Messages& messages) {
  if (plan.flags.baseline == BaselineChoice::none) return std::nullopt;
  const InterruptWatch interrupt;
  FitBaseline baseline;
  std::vector<GridCandidate> candidates;
  for (const Candidate& candidate : plan.candidates) {
    candidates.push_back({candidate.network, candidate.make});
    baseline.networks.push_back(candidate.network);
  }
  const auto start = std::chrono::steady_clock::now();
  const bool show = !plan.flags.common.quiet && isatty(2) == 1;
  int64_t shown = -1;
  baseline.search =
      grid_search(candidates, data.training, search_options(plan), [&](const GridSearchProgress& progress) {
        if (show && progress.training != shown) {
          shown = progress.training;
          const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          const double left = shown == 0 ? -1 : elapsed * static_cast<double>(progress.trainings - shown) / shown;
          fmt::print(stderr, "\r\033[Kbaseline: {}/{} trainings, {} left", shown, progress.trainings, duration(left));
        }
        return !interrupt.interrupted();
      });
  if (show) fmt::print(stderr, "\r\033[K");
  baseline.interrupted = baseline.search.interrupted;
  if (baseline.interrupted) return baseline;
  messages.add(baseline.search.warnings);
  if (!baseline.search.model) {
    messages.add(fmt::format("the baseline has no result: {}", baseline.search.failure));
    return std::nullopt;
  }
  const GridSetting& best = baseline.search.settings[*baseline.search.best];
  baseline.network = baseline.networks[best.candidate];
  baseline.prior_precision = best.precision;
  const TrainedModel trained = with_posterior(plan, data, baseline.network, *baseline.search.model);
  baseline.train = score(trained, data.training, score_options(plan, data));
  if (data.test) baseline.test = score(trained, *data.test, score_options(plan, data));
  return baseline;
}

}  // namespace ockham::app
