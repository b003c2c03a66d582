#include "app/export_flags.h"

namespace ockham::app {

void declare_export(CLI::App& app, ExportFlags& flags) {
  app.description("A fitted network as a TorchScript file, with the scaling of its table inside.");
  app.footer("ockham export ockham-runs/2026-01-31-235959 --to model.pt");
  app.add_option("RUN", flags.run, "Run directory that ockham fit made (required)")->option_text("");
  app.add_option("--to", flags.to, "The file to write; Python reads it with torch.jit.load (required)")
      ->option_text("MODEL.pt");
  add_common_flags(app, flags.common);
  app.callback([&flags] {
    if (flags.run.empty()) throw CLI::RequiredError("RUN");
    if (flags.to.empty()) throw CLI::RequiredError("--to");
  });
}

}  // namespace ockham::app
