#include "app/time_left.h"

#include <algorithm>

namespace ockham::app {
namespace {

constexpr double kLeastMeasured = 1;  // seconds: below, nothing is said
constexpr double kLongMeasured = 10;  // when no pass came by then, a guess of what it will cost is better than none
/// An epoch is judged by its batches when they took so long and were so many.
constexpr double kLeastSeconds = 3, kLeastShare = 0.1;

}  // namespace

bool EpochSchedule::has_pass(int64_t epoch) const {
  return (epoch > burn_in && epoch % frequency == 0) || epoch == epochs;
}

int64_t EpochSchedule::passes_after(int64_t done) const {
  if (done >= epochs) return 0;
  const int64_t from = std::max(done, burn_in);
  const int64_t regular = from >= epochs ? 0 : epochs / frequency - from / frequency;
  const bool last_is_regular = epochs > burn_in && epochs % frequency == 0;
  return regular + (last_is_regular ? 0 : 1);
}

TimeLeft::TimeLeft(Options options, std::vector<EpochCost> expected)
    : options_(options),
      expected_(std::move(expected)),
      measured_(expected_.size()),
      trainings_(expected_.size() * options.restarts) {}

void TimeLeft::resume(size_t candidate, size_t restart, int64_t epoch) { training(candidate, restart).epoch = epoch; }

void TimeLeft::begin(size_t candidate, size_t restart, double now) {
  Training& mine = training(candidate, restart);
  mine.running = true;
  mine.epoch_began = now;
  mine.first_batch = -1;
}

void TimeLeft::after_batch(size_t candidate, size_t restart, double share, double now) {
  Training& mine = training(candidate, restart);
  if (mine.first_batch < 0) {  // the first one prepares memory, and is slower
    mine.first_batch = now;
    mine.first_share = share;
    return;
  }
  const double seconds = now - mine.first_batch, part = share - mine.first_share;
  if (seconds >= kLeastSeconds && part >= kLeastShare) measured_[candidate].by_batches = seconds / part;
}

void TimeLeft::after_epoch(size_t candidate, size_t restart, int64_t epoch, double now) {
  Training& mine = training(candidate, restart);
  Measured& all = measured_[candidate];
  const double seconds = now - mine.epoch_began;
  const bool pass = options_.schedule.has_pass(epoch);
  const bool first = mine.measured++ == 0;
  if (!first || options_.schedule.epochs == 1) {
    (pass ? all.with_pass : all.plain).add(seconds);
    measured_seconds_ += seconds;
  } else if (!pass) {
    all.first = seconds;
  }
  mine.epoch = epoch;
  mine.epoch_began = now;
  mine.first_batch = -1;
}

void TimeLeft::end(size_t candidate, size_t restart) {
  training(candidate, restart).ended = true;
  training(candidate, restart).running = false;
}

std::optional<EpochCost> TimeLeft::measured_cost(size_t candidate, bool may_be_first) const {
  const Measured& mine = measured_[candidate];
  const EpochCost& expected = expected_[candidate];
  const bool always = options_.schedule.frequency == 1;  // then there is no need to tell epoch and pass apart
  EpochCost cost;
  if (mine.plain.count > 0) {
    cost.epoch = mine.plain.value();
  } else if (always && mine.with_pass.count > 0) {
    return EpochCost{mine.with_pass.value(), 0};
  } else if (mine.by_batches) {
    cost.epoch = *mine.by_batches;
  } else if (may_be_first && mine.first && *mine.first > kLeastSeconds) {
    cost.epoch = *mine.first;
  } else {
    return std::nullopt;
  }
  if (mine.with_pass.count > 0) {
    cost.pass = std::max(0.0, mine.with_pass.value() - cost.epoch);
  } else if (expected.epoch > 0 && (options_.passes_were_measured || measured_seconds_ > kLongMeasured)) {
    cost.pass = expected.pass * cost.epoch / expected.epoch;
  } else {
    return std::nullopt;
  }
  return cost;
}

std::optional<double> TimeLeft::seconds(double now) const {
  std::vector<std::optional<EpochCost>> costs;
  double measured = 0, planned = 0;
  bool by_batches = false;
  for (size_t candidate = 0; candidate < expected_.size(); ++candidate) {
    costs.push_back(measured_cost(candidate, /*may_be_first=*/false));
    by_batches =
        by_batches || measured_[candidate].by_batches || measured_[candidate].first.value_or(0) > kLeastSeconds;
    const EpochCost& plan = expected_[candidate];
    const double passes = static_cast<double>(options_.schedule.passes_after(0)),
                 epochs = static_cast<double>(options_.schedule.epochs);
    if (!costs.back() || plan.epoch <= 0) continue;
    measured += epochs * costs.back()->epoch + passes * costs.back()->pass;
    planned += epochs * plan.epoch + passes * plan.pass;
  }
  if (measured_seconds_ < kLeastMeasured && !by_batches) return std::nullopt;

  double sum = 0, longest = 0;
  size_t left = 0;
  for (size_t i = 0; i < trainings_.size(); ++i) {
    const Training& training = trainings_[i];
    if (training.ended || training.epoch >= options_.schedule.epochs) continue;
    const size_t candidate = i / options_.restarts;
    std::optional<EpochCost> cost = costs[candidate];
    if (!cost && planned > 0 && expected_[candidate].epoch > 0)
      cost = EpochCost{expected_[candidate].epoch * measured / planned, expected_[candidate].pass * measured / planned};
    if (!cost) cost = measured_cost(candidate, /*may_be_first=*/true);
    if (!cost) return std::nullopt;
    const auto epochs = static_cast<double>(options_.schedule.epochs - training.epoch),
               passes = static_cast<double>(options_.schedule.passes_after(training.epoch));
    double mine = epochs * cost->epoch + passes * cost->pass;
    if (training.running) {
      const double this_epoch = cost->epoch + (options_.schedule.has_pass(training.epoch + 1) ? cost->pass : 0);
      mine -= std::min(now - training.epoch_began, this_epoch);
    }
    sum += mine;
    longest = std::max(longest, mine);
    ++left;
  }
  if (left == 0) return 0;
  return std::max(longest, sum / static_cast<double>(std::min(left, options_.workers)));
}

}  // namespace ockham::app
