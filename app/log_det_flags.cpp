#include "app/log_det_flags.h"

#include <CLI/CLI.hpp>

#include "ockham/base/error.h"

namespace ockham::app {
namespace {

const Words<LogDetChoice> log_det_words = {{"exact", LogDetChoice::exact}, {"slq", LogDetChoice::slq}};
const Words<StructureChoice> preconditioner_words = {{"kron", StructureChoice::kron}, {"diag", StructureChoice::diag}};

}  // namespace

const char* word_of(LogDetChoice choice) { return choice == LogDetChoice::slq ? "slq" : "exact"; }

void add_log_det(CLI::App& app, LogDetFlags& flags) {
  add_choice<LogDetChoice>(app, "--log-det", flags.method, log_det_words,
                           "The full structure's log determinant: exact, or slq where P × P has no room: estimated "
                           "with an error bar by stochastic Lanczos quadrature, as the difference from a "
                           "preconditioner, whose posterior the predictions then use");
  add_count(app, "--slq-probes", flags.probes, 2,
            "slq: random vectors (of --seed); the error bar falls with their root (default: 10)");
  add_count(app, "--slq-steps", flags.steps, 2,
            "slq: Lanczos steps; each costs a pass over the data for all vectors together (default: 30)");
  add_choice<StructureChoice>(app, "--slq-preconditioner", flags.preconditioner, preconditioner_words,
                              "slq: the structure that the difference is taken from");
}

void settle_log_det(const CLI::App& app, const LogDetFlags& flags, StructureChoice& structure,
                    CurvatureChoice curvature) {
  if (!flags.estimated()) {
    for (const char* flag : {"--slq-probes", "--slq-steps", "--slq-preconditioner"})
      if (app.count(flag) > 0) throw CLI::ValidationError(flag, "it belongs to --log-det slq, which is missing");
    return;
  }
  if (app.count("--structure") == 0 || structure == StructureChoice::unset) structure = StructureChoice::full;
  if (structure != StructureChoice::full)
    throw CLI::ValidationError(
        "--log-det", "slq is for --structure full; the other structures have exact log determinants at any size");
  if (curvature == CurvatureChoice::mc)
    throw CLI::ValidationError("--log-det",
                               "slq makes many passes, and --curvature mc would sample anew in each; use ggn or ef");
}

void check_prior(const LogDetFlags& flags, PriorChoice prior) {
  if (flags.estimated() && prior == PriorChoice::diagonal)
    throw Error(
        ErrorKind::usage,
        "--prior diagonal: an estimated log determinant (--log-det slq) cannot follow one precision per weight; "
        "use --prior scalar, layerwise or ard, or --log-det exact");
}

}  // namespace ockham::app
