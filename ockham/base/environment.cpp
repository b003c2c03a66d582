#include "ockham/base/environment.h"

#include <unistd.h>

#include <cstdlib>

#include "ockham/base/blas_core.h"

namespace ockham {
namespace {

constexpr const char* wait_variable = "OMP_WAIT_POLICY";

}  // namespace

void tune_environment() {
  choose_blas_core();
  setenv(wait_variable, "passive", 0);
}

void restart_with_tuned_environment(char** argv) {
  // Either variable ends the loop: the second start finds the wait policy set.
  const bool settled = std::getenv(wait_variable) != nullptr;
  const bool core_was_set = std::getenv(blas_core_variable) != nullptr;
  tune_environment();
  const bool core_chosen = !core_was_set && std::getenv(blas_core_variable) != nullptr;
  if (!settled || core_chosen) execv("/proc/self/exe", argv);
}

}  // namespace ockham
