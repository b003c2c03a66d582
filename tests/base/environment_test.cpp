#include "ockham/base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/variable_guard.h"

namespace ockham {
namespace {

TEST(TuneEnvironment, SetsTheWaitPolicyOnlyWhereTheUserHasNot) {
  const testing::VariableGuard policy("OMP_WAIT_POLICY");
  policy.set("active");
  tune_environment();
  EXPECT_STREQ(std::getenv("OMP_WAIT_POLICY"), "active");
  policy.unset();
  tune_environment();
  EXPECT_STREQ(std::getenv("OMP_WAIT_POLICY"), "passive");
}

TEST(RestartWithTunedEnvironment, HappensOnceAndThenReturns) {
  // The test program itself was started that way; a second call must come back.
  ASSERT_NE(std::getenv("OMP_WAIT_POLICY"), nullptr);
  char name[] = "base_tests";
  char* arguments[] = {name, nullptr};
  restart_with_tuned_environment(arguments);
  SUCCEED();
}

}  // namespace
}  // namespace ockham
