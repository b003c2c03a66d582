#include "app/fit_baseline.h"

#include <fmt/format.h>

#include <chrono>

#include "app/durations.h"

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

std::optional<FitBaseline> search_baseline(const FitPlan& plan, const FitData& data, Messages& messages,
                                           const TimeIsOver& time_is_over, ProgressLine& line) {
  if (plan.flags.baseline == BaselineChoice::none) return std::nullopt;
  if (time_is_over()) {
    messages.add("--baseline: there was no time for it (--time-limit)");
    return std::nullopt;
  }
  FitBaseline baseline;
  std::vector<GridCandidate> candidates;
  for (const Candidate& candidate : plan.candidates) {
    candidates.push_back({candidate.network, candidate.make});
    baseline.networks.push_back(candidate.network);
  }
  const auto start = std::chrono::steady_clock::now();
  baseline.search =
      grid_search(candidates, data.training, search_options(plan), [&](const GridSearchProgress& progress) {
        if (line.due()) {
          const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          const auto done = static_cast<double>(progress.training);
          const std::string left =
              progress.training == 0
                  ? ""
                  : fmt::format(", about {} left",
                                duration(elapsed * (static_cast<double>(progress.trainings) - done) / done));
          line.show(fmt::format("baseline: {}/{} trainings done{} | {} epoch {}", progress.training, progress.trainings,
                                left, baseline.networks[progress.candidate], progress.epoch));
        }
        return true;
      });
  line.clear();
  messages.add(baseline.search.warnings);
  if (!baseline.search.model) {
    messages.add(fmt::format("the baseline has no result: {}", baseline.search.failure));
    return std::nullopt;
  }
  const GridSetting& best = baseline.search.settings[*baseline.search.best];
  baseline.network = baseline.networks[best.candidate];
  baseline.prior_precision = best.precision;
  const std::string what = "assessing the baseline";
  const TrainedModel trained = with_posterior(plan, data, baseline.network, *baseline.search.model,
                                              count_examples(line, what + ": curvature", data.training.size()));
  FitScores scores = score_fit(plan, data, trained, time_is_over, line, what);
  baseline.train = std::move(scores.train);
  baseline.test = std::move(scores.test);
  return baseline;
}

}  // namespace ockham::app
