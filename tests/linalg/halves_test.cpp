#include "ockham/linalg/halves.h"

#include <gtest/gtest.h>

#include <atomic>

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

TEST(RunInHalves, NoPhasesAreNoWork) { run_in_halves({}); }

}  // namespace
}  // namespace ockham
