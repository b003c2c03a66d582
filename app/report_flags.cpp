#include "app/report_flags.h"

#include <CLI/CLI.hpp>

namespace ockham::app {

void declare_report(CLI::App& app, ReportFlags& flags) {
  app.description("Writes the report of a run, report.html, again.");
  app.footer("ockham report ockham-runs/2026-01-31-235959");
  app.add_option("RUN,--run", flags.run, "The run directory (required)")->option_text("RUN");
  add_common_flags(app, flags.common,
                   {"--seed", "--threads", "--dtype", "--device", "--memory", "--time-limit", "--quiet", "--color",
                    "--no-torchscript"});
  app.callback([&flags] {
    if (flags.run.empty()) throw CLI::RequiredError("RUN");
  });
}

}  // namespace ockham::app
