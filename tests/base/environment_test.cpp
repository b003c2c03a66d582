#include "ockham/base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace ockham {
namespace {

TEST(TuneEnvironment, SetsTheWaitPolicyOnlyWhereTheUserHasNot) {
  const char* before = std::getenv("OMP_WAIT_POLICY");
  const std::string saved = before == nullptr ? "" : before;
  setenv("OMP_WAIT_POLICY", "active", 1);
  tune_environment();
  EXPECT_STREQ(std::getenv("OMP_WAIT_POLICY"), "active");
  unsetenv("OMP_WAIT_POLICY");
  tune_environment();
  EXPECT_STREQ(std::getenv("OMP_WAIT_POLICY"), "passive");
  if (before != nullptr) setenv("OMP_WAIT_POLICY", saved.c_str(), 1);
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
