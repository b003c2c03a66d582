#include "app/evidence_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace ockham::app {
namespace {

void add_model(CLI::App& app, EvidenceFlags& flags) {
  add_choice<LikelihoodChoice>(app, "--likelihood", flags.likelihood, likelihood_words(),
                               "How targets follow from outputs; required")
      ->description("How the targets follow from the outputs (required)");
  app.add_option_function<std::vector<std::string>>(
         "--noise",
         [&flags](const std::vector<std::string>& texts) {
           flags.noise = parse_positives("--noise", "the noise standard deviation", texts);
         },
         "Gaussian noise standard deviation; one, or one per output (default: 1)")
      ->option_text("SIGMA[,SIGMA...]");
  add_positive(app, "--temperature", flags.temperature, "the temperature",
               "Temperature of softmax(f / T) or sigmoid(f / T) (default: 1)")
      ->option_text("T");
  add_positive(app, "--likelihood-weight", flags.likelihood_weight, "the likelihood weight",
               "Count each example W times (default: 1)")
      ->option_text("W");
  add_choice<PriorChoice>(
      app, "--prior", flags.prior, prior_words(),
      "Which weights share a prior precision: all, each parameter tensor, none, or each input feature");
  app.add_option_function<std::vector<std::string>>(
         "--group",
         [&flags](const std::vector<std::string>& texts) {
           for (const auto& text : texts) {
             const auto equals = text.find('=');
             if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
               throw CLI::ValidationError("--group",
                                          fmt::format("expected NAME=parameter,parameter,..., got '{}'", text));
             }
             flags.groups.emplace_back(text.substr(0, equals), split_list(text.substr(equals + 1)));
           }
           flags.prior = PriorChoice::groups;
         },
         "A named group of parameters that share a precision; repeat it until every parameter is in one; "
         "instead of --prior")
      ->option_text("NAME=PARAM,...")
      ->excludes("--prior");
  app.add_option_function<std::vector<std::string>>(
         "--prior-precision",
         [&flags](const std::vector<std::string>& texts) {
           const bool is_file =
               texts.size() == 1 && texts[0].size() > 4 && texts[0].substr(texts[0].size() - 4) == ".npy";
           if (is_file) {
             flags.prior_precision_file = texts[0];
           } else {
             flags.prior_precision = parse_positives("--prior-precision", "a prior precision", texts);
           }
         },
         "Prior precisions: one for all, one per group in the order of the network's parameters, or an .npy file "
         "(default: 1)")
      ->option_text("V[,V...]");
}

void add_curvature(CLI::App& app, EvidenceFlags& flags) {
  add_choice<StructureChoice>(app, "--structure", flags.structure, structure_words(), "Structure of the curvature");
  add_log_det(app, flags.log_det);
  add_choice<CurvatureChoice>(app, "--curvature", flags.curvature, curvature_words(),
                              "Gauss-Newton, empirical Fisher or Monte-Carlo Fisher");
  add_choice<KroneckerChoice>(app, "--kron-approx", flags.kronecker, kronecker_words(),
                              "How the positions of a convolution enter the Kronecker factors");
  app.add_flag("--damping", flags.damping, "Damp the Kronecker factors instead of adding the prior exactly");
  app.add_flag("--correction", flags.correction, "Add ½ gᵀH⁻¹g, for weights that are not at a mode");
  app.add_flag("--check", flags.check,
               "Compute it again in other ways (floating type, batch order, function space, finite differences, "
               "distance to a mode) and say whether they agree");
  add_count(app, "--mc-samples", flags.mc_samples, 1, "Samples of the Monte-Carlo Fisher (default: 1)");
  add_ggn_tolerance(app, flags.ggn_tolerance);
  add_count(app, "--batch-size", flags.batch_size, 1, "Examples at once (default: 128)");
  add_minibatch_flags(app, flags.minibatch);
}

/// The bound has no posterior of all data, and only exact structures have a bound.
void check_minibatch(const CLI::App& app, EvidenceFlags& flags) {
  check_minibatch_flags(flags.minibatch, flags.curvature, flags.log_det);
  if (!flags.minibatch.chosen()) return;
  for (const char* flag : {"--correction", "--check", "--damping", "--test-inputs"})
    if (app.count(flag) > 0)
      throw CLI::ValidationError(
          flag,
          "it needs the posterior of all data, which --evidence minibatch does without; leave one of the two out");
  if (!flags.structure_given) flags.structure = StructureChoice::full;
  if (flags.structure == StructureChoice::kron)
    throw CLI::ValidationError("--structure kron",
                               "Kronecker factors of batches are no bound of those of all data; "
                               "use full, block or diag with --evidence minibatch");
}

}  // namespace

void declare_evidence(CLI::App& app, EvidenceFlags& flags) {
  flags.common.dtype = FloatType::float64;
  app.description("Computes the log marginal likelihood of a network at given hyperparameters, and its gradient.");
  app.footer(
      "ockham evidence --network net.pt --inputs x.npy --targets y.npy --likelihood categorical --json\n"
      "ockham evidence --network net.pt --inputs x.npy --targets y.npy --likelihood gaussian --noise 0.3 "
      "--prior-precision 10\n"
      "ockham evidence --network net.pt --inputs x.npy --targets y.npy --likelihood gaussian --structure full --prior "
      "layerwise "
      "--test-inputs new.npy --json\n"
      "ockham evidence --network net.pt --inputs x.npy --targets y.npy --likelihood categorical --structure full "
      "--log-det slq --dtype float32\n"
      "ockham evidence --from-run ockham-runs/2026-01-31-235959 --structure diag --check\n"
      "ockham evidence --from-run ockham-runs/2026-01-31-235959 --evidence minibatch --evidence-batch 256");
  app.add_option("--network", flags.network,
                 "TorchScript file that maps [N, ...] to [N, C]; it runs code of its own (required)")
      ->option_text("FILE.pt");
  app.add_option("--inputs", flags.inputs, "Inputs [N, ...] (required)")->option_text("X.npy");
  app.add_option("--targets", flags.targets, "Targets [N] or [N, C] (required)")->option_text("Y.npy");
  app.add_option("--test-inputs", flags.test_inputs, "Also predict for these inputs")->option_text("X.npy");
  app.add_option("--from-run", flags.from_run,
                 "Take network, data and hyperparameters from a run directory of 'ockham fit' instead; the evidence is "
                 "then in the target's own units. --structure, --log-det, --curvature, --kron-approx, --ggn-tolerance, "
                 "--evidence-batch, --evidence-shared and --dtype, where they are not given, are those of the run, not "
                 "the defaults below")
      ->option_text("RUN");
  add_model(app, flags);
  add_curvature(app, flags);
  add_rank_flags(app, flags.ranks);
  add_common_flags(app, flags.common);
  app.callback([&app, &flags] {
    flags.structure_given = app.count("--structure") > 0;
    flags.curvature_given = app.count("--curvature") > 0;
    flags.dtype_given = app.count("--dtype") > 0;
    flags.kronecker_given = app.count("--kron-approx") > 0;
    flags.ggn_tolerance_given = app.count("--ggn-tolerance") > 0;
    check_minibatch(app, flags);
    flags.log_det_given = app.count("--log-det") > 0;
    settle_log_det(app, flags.log_det, flags.structure, flags.curvature);
    check_prior(flags.log_det, flags.prior);
    check_rank_flags(flags.ranks);
    if (flags.log_det.estimated() && flags.correction)
      throw CLI::ValidationError("--correction",
                                 "it needs H⁻¹g of the full structure, which --log-det slq does not have");
    if (!flags.from_run.empty()) {
      for (const char* flag : {"--network", "--inputs", "--targets", "--test-inputs", "--likelihood", "--noise",
                               "--temperature", "--prior", "--group", "--prior-precision", "--likelihood-weight"})
        if (app.count(flag) > 0)
          throw CLI::ValidationError(flag, "it comes from the run with --from-run; leave one of the two out");
      return;
    }
    if (flags.network.empty()) throw CLI::RequiredError("--network");
    if (flags.inputs.empty()) throw CLI::RequiredError("--inputs");
    if (flags.targets.empty()) throw CLI::RequiredError("--targets");
    if (flags.likelihood == LikelihoodChoice::unset) throw CLI::RequiredError("--likelihood");
  });
}

}  // namespace ockham::app
