#include "app/export_flags.h"

#include <CLI/CLI.hpp>

namespace ockham::app {

void declare_export(CLI::App& app, ExportFlags& flags) {
  app.description("Writes a fitted network as a TorchScript file, with the scaling of its inputs inside.");
  app.footer(
      "ockham export ockham-runs/2026-01-31-235959 --to model.pt\n"
      "ockham export RUN --to model.pt --overwrite   # replaces an older one");
  app.add_option("RUN", flags.run, "Run directory that ockham fit made (required)")->option_text("");
  app.add_option("--to", flags.to, "The file to write; Python reads it with torch.jit.load (required)")
      ->option_text("MODEL.pt");
  app.add_flag("--overwrite,--force", flags.overwrite, "Replace the file if it exists");
  add_common_flags(app, flags.common,
                   {"--seed", "--threads", "--dtype", "--device", "--memory", "--time-limit", "--quiet", "--color"});
  app.callback([&flags] {
    if (flags.run.empty()) throw CLI::RequiredError("RUN");
    if (flags.to.empty()) throw CLI::RequiredError("--to");
  });
}

}  // namespace ockham::app
