// Runs the tests of one room as a program should run: with the right BLAS kernels and all CPUs.
#include <gtest/gtest.h>

#include "ockham/base/environment.h"
#include "ockham/base/platform.h"

int main(int argc, char** argv) {
  ockham::restart_with_tuned_environment(argv);
  ockham::set_threads(ockham::available_cpus());
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
