#include "app/paper_flags.h"

#include <CLI/CLI.hpp>

#include "app/model_flags.h"

namespace ockham::app {

void declare_paper(CLI::App& app, PaperFlags& flags) {
  app.description(
      "Runs an experiment of the paper and shows it beside the paper's own numbers. Without a name it lists them.");
  app.footer(
      "ockham paper                                    # what there is, what it needs and how long it takes\n"
      "ockham paper toy-regression --data DIR --quick  # a few minutes\n"
      "ockham paper uci-regression --data DIR --out results --splits 5\n"
      "ockham paper uci-regression --data DIR --out results --only energy --only kron\n"
      "# Ctrl-C ends it; the same command again goes on. Finished cells are kept in the --out directory.");
  app.add_option("EXPERIMENT", flags.experiment, "The experiment (default: list them all)");
  app.add_option("--data", flags.data, "The directory with the data sets (default: .)")->option_text("DIR");
  app.add_option("--out", flags.out,
                 "Where results are kept: EXPERIMENT.html, .md and .json, and cells/ (default: ockham-paper)")
      ->option_text("DIR");
  const std::string own = " (default: the experiment's own)";
  add_count(app, "--splits", flags.splits, 1, "Splits of the data, or seeds" + own);
  add_count(app, "--epochs", flags.epochs, 1, "Epochs of each training" + own);
  add_count(app, "--train-size", flags.train_size, 1,
            "Training images, drawn by the seed (experiments on images)" + own);
  app.add_flag("--quick", flags.quick, "Small settings that take a few minutes");
  app.add_option("--only", flags.only,
                 "Compute only cells whose name has this word, and every further one; all kept cells are shown")
      ->option_text("WORD")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_count(app, "--workers", flags.workers, 1,
            "Cells at once, each on one thread; results do not depend on it (default: as many as threads)");
  add_common_flags(app, flags.common, {"--dtype", "--device", "--color", "--no-torchscript"});
}

}  // namespace ockham::app
