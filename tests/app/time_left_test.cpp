#include "app/time_left.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ockham::app {
namespace {

TEST(EpochSchedule, CountsThePassesThatAreLeft) {
  for (const EpochSchedule& schedule : {EpochSchedule{20, 0, 5}, EpochSchedule{23, 7, 5}, EpochSchedule{10, 0, 1},
                                        EpochSchedule{4, 9, 2}, EpochSchedule{12, 3, 100}, EpochSchedule{1, 0, 1}}) {
    for (int64_t done = 0; done <= schedule.epochs; ++done) {
      int64_t passes = 0;
      for (int64_t epoch = done + 1; epoch <= schedule.epochs; ++epoch) passes += schedule.has_pass(epoch) ? 1 : 0;
      EXPECT_EQ(schedule.passes_after(done), passes) << schedule.epochs << " " << schedule.frequency << " " << done;
    }
  }
}

/// Trainings one after the other, whose clock is a number.
struct Simulation {
  EpochSchedule schedule;
  std::vector<EpochCost> truth;
  double first = 3;  // times what later epochs take

  double whole(size_t candidate) const {
    return truth[candidate].epoch * (static_cast<double>(schedule.epochs) + first - 1) +
           truth[candidate].pass * static_cast<double>(schedule.passes_after(0));
  }
  /// Every estimate after an epoch, and the truth.
  std::vector<std::pair<double, double>> run(TimeLeft& time) const {
    std::vector<std::pair<double, double>> estimates;
    double now = 0, end = 0;
    for (size_t candidate = 0; candidate < truth.size(); ++candidate) end += whole(candidate);
    for (size_t candidate = 0; candidate < truth.size(); ++candidate) {
      time.begin(candidate, 0, now);
      for (int64_t epoch = 1; epoch <= schedule.epochs; ++epoch) {
        now += truth[candidate].epoch * (epoch == 1 ? first : 1);
        if (schedule.has_pass(epoch)) now += truth[candidate].pass;
        time.after_epoch(candidate, 0, epoch, now);
        if (const auto left = time.seconds(now)) estimates.emplace_back(*left, end - now);
      }
      time.end(candidate, 0);
    }
    return estimates;
  }
};

TEST(TimeLeft, OnceSaidItIsRightAndDoesNotClimb) {
  const Simulation simulation{{40, 0, 10}, {{0.5, 4}, {2, 10}}};
  // Of a table: only the proportions are guessed, and not well.
  TimeLeft time({simulation.schedule, 1, 1, false}, {{1, 6}, {4, 24}});
  const auto estimates = simulation.run(time);
  ASSERT_GT(estimates.size(), 60u);
  EXPECT_LT(estimates.size(), 80u) << "something was said before a pass was measured";
  double before = INFINITY;
  for (const auto& [estimate, truth] : estimates) {
    EXPECT_NEAR(estimate, truth, 0.35 * truth + 1e-9);
    EXPECT_LE(estimate, before + 1e-9);
    before = estimate;
  }
  EXPECT_NEAR(estimates.back().first, 0, 1e-9);
}

TEST(TimeLeft, OfImagesIsKnownBeforeTheFirstPass) {
  const Simulation simulation{{40, 0, 10}, {{5, 40}, {10, 80}}};
  // What was measured before, on a busier machine.
  TimeLeft time({simulation.schedule, 1, 1, true}, {{10, 80}, {20, 160}});
  const auto estimates = simulation.run(time);
  EXPECT_EQ(estimates.size(), 79u);  // after the first epoch, which is no measure for the other candidate
  for (size_t i = 0; i < estimates.size(); ++i)
    EXPECT_NEAR(estimates[i].first, estimates[i].second, 0.05 * estimates[i].second + 15);
}

TEST(TimeLeft, ALongFirstEpochIsJudgedByItsBatches) {
  TimeLeft time({{10, 0, 5}, 1, 1, true}, {{50, 200}});
  time.begin(0, 0, 0);
  time.after_batch(0, 0, 0.01, 8);  // the first batch is slow
  EXPECT_FALSE(time.seconds(8).has_value());
  time.after_batch(0, 0, 0.02, 9);
  EXPECT_FALSE(time.seconds(9).has_value());
  time.after_batch(0, 0, 0.21, 28);
  ASSERT_TRUE(time.seconds(28).has_value());
  EXPECT_NEAR(*time.seconds(28), 10 * 100 + 2 * 400 - 28, 1);
}

TEST(TimeLeft, SeveralAtOnceAndWhatWasDoneBefore) {
  TimeLeft time({{100, 0, 1}, 2, 2, false}, {{1, 0}});
  time.resume(0, 0, 50);
  for (size_t restart : {0, 1}) time.begin(0, restart, 0);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    time.after_epoch(0, 0, 50 + epoch, epoch);
    time.after_epoch(0, 1, epoch, epoch);
  }
  EXPECT_NEAR(time.seconds(3).value(), 97, 1e-9);  // the longer one
  time.end(0, 1);
  EXPECT_NEAR(time.seconds(3).value(), 47, 1e-9);
  time.end(0, 0);
  EXPECT_EQ(time.seconds(3).value(), 0);
}

}  // namespace
}  // namespace ockham::app
