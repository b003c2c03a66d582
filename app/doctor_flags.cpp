#include "app/doctor_flags.h"

#include <CLI/CLI.hpp>

namespace ockham::app {

void declare_doctor(CLI::App& app, DoctorFlags& flags) {
  app.description("Looks at this machine: versions, BLAS core, threads, measured speed, memory, and what to change.");
  app.footer(
      "ockham doctor\n"
      "ockham doctor --json\n"
      "ockham doctor --threads 1              # the speed of one core");
  add_common_flags(app, flags.common, {"--seed", "--dtype", "--time-limit", "--quiet", "--no-torchscript"});
}

}  // namespace ockham::app
