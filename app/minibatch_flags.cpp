#include "app/minibatch_flags.h"

#include <CLI/CLI.hpp>

namespace ockham::app {

void add_minibatch_flags(CLI::App& app, MinibatchFlags& flags) {
  add_choice<EvidenceChoice>(app, "--evidence", flags.evidence,
                             {{"whole", EvidenceChoice::whole}, {"minibatch", EvidenceChoice::minibatch}},
                             "The evidence of all data at once, or a lower bound from batches of them: exact within a "
                             "batch, without what connects two");
  app.add_option_function<std::string>(
         "--evidence-batch",
         [&flags](const std::string& text) {
           flags.batch.reset();
           if (text != "auto") flags.batch = parse_count("--evidence-batch", 1, text);
         },
         "Examples of such a batch, at most; larger ones bound more tightly (default: auto, a thousand rows)")
      ->option_text("N|auto");
  app.add_option_function<std::string>(
         "--evidence-shared",
         [&flags](const std::string& text) {
           flags.shared.reset();
           if (text != "auto") flags.shared = parse_count("--evidence-shared", 0, text);
         },
         "Examples of a batch that are those of others before it, the nearest to its own, which bounds more tightly; "
         "0: "
         "none, and batches at random (default: auto, half)")
      ->option_text("N|auto");
}

void check_minibatch_flags(const MinibatchFlags& flags, CurvatureChoice curvature, const LogDetFlags& log_det) {
  if (!flags.chosen()) {
    if (flags.batch || flags.shared)
      throw CLI::ValidationError(flags.batch ? "--evidence-batch" : "--evidence-shared",
                                 "it belongs to --evidence minibatch; add that or leave it out");
    return;
  }
  if (flags.batch && flags.shared && *flags.shared >= *flags.batch)
    throw CLI::ValidationError("--evidence-shared",
                               "a batch needs examples of its own: give less than --evidence-batch");
  if (log_det.estimated())
    throw CLI::ValidationError("--log-det",
                               "batches have exact log determinants; leave slq out with --evidence minibatch");
  if (curvature == CurvatureChoice::mc)
    throw CLI::ValidationError("--curvature mc",
                               "drawn curvature of batches is no bound of that of all data; use ggn or ef with "
                               "--evidence minibatch");
}

}  // namespace ockham::app
