#include "ockham/linalg/halves.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "ockham/base/platform.h"

namespace ockham {
namespace {

TEST(RunInHalves, DoesBothHalvesOfAPhaseBeforeTheNext) {
  for (int threads : {1, 2}) {
    set_threads(threads);
    for (int repetition = 0; repetition < 50; ++repetition) {
      std::vector<std::atomic<int>> done(4);
      std::vector<Phase> phases;
      for (int i = 0; i < 4; ++i) {
        phases.push_back([&done, i](int half) {
          for (int earlier = 0; earlier < i; ++earlier) EXPECT_EQ(done[earlier], 3);
          done[i] += half == 0 ? 1 : 2;
        });
      }
      run_in_halves(phases);
      for (const std::atomic<int>& phase : done) EXPECT_EQ(phase, 3);
    }
  }
  set_threads(available_cpus());
}

// Several callers share one companion: each does what the companion leaves.
TEST(RunInHalves, ServesSeveralThreadsAtOnce) {
  set_threads(2);
  std::atomic<int> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&sum] {
      for (int repetition = 0; repetition < 200; ++repetition) {
        std::atomic<int> own{0};
        run_in_halves({[&own](int half) { own += half == 0 ? 1 : 2; }, [&own](int half) { own += half == 0 ? 4 : 8; }});
        sum += own;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  set_threads(available_cpus());
  EXPECT_EQ(sum, 4 * 200 * 15);
}

// The companion sleeps after a while, and wakes for new work.
TEST(RunInHalves, WakesASleepingCompanion) {
  set_threads(2);
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::atomic<int> own{0};
    run_in_halves({[&own](int half) { own += half == 0 ? 1 : 2; }});
    EXPECT_EQ(own, 3);
  }
  set_threads(available_cpus());
}

TEST(TriangleHalves, AreAboutEqual) {
  for (int64_t n : {1, 7, 8, 16, 30, 128, 129, 245, 501, 999}) {
    const TriangleHalves halves(n);
    EXPECT_EQ(halves.top + halves.bottom, n);
    EXPECT_LE(halves.middle, halves.bottom);
    const auto first = static_cast<double>(halves.top * halves.top + 2 * halves.middle * halves.top);
    EXPECT_NEAR(first, static_cast<double>(n * n) / 2, static_cast<double>(8 * n + n)) << n;
  }
}

TEST(RunInHalves, NoPhasesAreNoWork) { run_in_halves({}); }

}  // namespace
}  // namespace ockham
