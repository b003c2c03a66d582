#include "app/evidence_flags.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace ockham::app {
namespace {

const std::vector<std::pair<std::string, LikelihoodChoice>> likelihoods = {
    {"gaussian", LikelihoodChoice::gaussian},
    {"categorical", LikelihoodChoice::categorical},
    {"bernoulli", LikelihoodChoice::bernoulli},
    {"poisson", LikelihoodChoice::poisson}};
const std::vector<std::pair<std::string, StructureChoice>> structures = {{"full", StructureChoice::full},
                                                                         {"kron", StructureChoice::kron},
                                                                         {"block", StructureChoice::block},
                                                                         {"diag", StructureChoice::diag}};
const std::vector<std::pair<std::string, CurvatureChoice>> curvatures = {
    {"ggn", CurvatureChoice::ggn}, {"ef", CurvatureChoice::ef}, {"mc", CurvatureChoice::mc}};
const std::vector<std::pair<std::string, PriorChoice>> priors = {{"scalar", PriorChoice::scalar},
                                                                 {"layerwise", PriorChoice::layerwise},
                                                                 {"diagonal", PriorChoice::diagonal},
                                                                 {"ard", PriorChoice::ard}};

template <class Choice>
const char* word_in(const std::vector<std::pair<std::string, Choice>>& words, Choice choice) {
  for (const auto& [word, value] : words) {
    if (value == choice) return word.c_str();
  }
  return "";
}

double parse_positive(const std::string& flag, const std::string& what, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  // Not (value > 0) rather than value <= 0: NaN must not pass.
  if (end == text.c_str() || *end != '\0' || !std::isfinite(value) || !(value > 0)) {
    throw CLI::ValidationError(flag, fmt::format("{} must be a positive number, got '{}'", what, text));
  }
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// "0.5" or "0.5,0.1,..."; a list in a configuration file arrives as several texts.
std::vector<double> parse_positives(const std::string& flag, const std::string& what,
                                    const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const auto& text : texts) {
    for (const auto& part : split(text)) values.push_back(parse_positive(flag, what, part));
  }
  if (values.empty()) throw CLI::ValidationError(flag, fmt::format("{} is missing", what));
  return values;
}

void add_positive(CLI::App& app, const std::string& flag, double& value, const std::string& what,
                  const std::string& help) {
  app.add_option_function<std::string>(
         flag, [&value, flag, what](const std::string& text) { value = parse_positive(flag, what, text); }, help)
      ->option_text(what == "the temperature" ? "T" : "W");
}

void add_count(CLI::App& app, const std::string& flag, int64_t& value, const std::string& help) {
  app.add_option_function<std::string>(
         flag,
         [&value, flag](const std::string& text) {
           char* end = nullptr;
           const long long count = std::strtoll(text.c_str(), &end, 10);
           if (end == text.c_str() || *end != '\0' || count < 1) {
             throw CLI::ValidationError(flag, fmt::format("expected a positive whole number, got '{}'", text));
           }
           value = count;
         },
         help)
      ->option_text("N");
}

void add_model(CLI::App& app, EvidenceFlags& flags) {
  add_choice<LikelihoodChoice>(app, "--likelihood", flags.likelihood, likelihoods,
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
               "Temperature of softmax(f / T) or sigmoid(f / T) (default: 1)");
  add_positive(app, "--likelihood-weight", flags.likelihood_weight, "the likelihood weight",
               "Count each example W times (default: 1)");
  add_choice<PriorChoice>(
      app, "--prior", flags.prior, priors,
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
             flags.groups.emplace_back(text.substr(0, equals), split(text.substr(equals + 1)));
           }
           flags.prior = PriorChoice::groups;
         },
         "A named group of parameters that share a precision; repeat it until every parameter is in one")
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
  add_choice<StructureChoice>(app, "--structure", flags.structure, structures, "Structure of the curvature");
  add_choice<CurvatureChoice>(app, "--curvature", flags.curvature, curvatures,
                              "Gauss-Newton, empirical Fisher or Monte-Carlo Fisher");
  add_choice<KroneckerChoice>(
      app, "--kron-approx", flags.kronecker,
      {{"expand", KroneckerChoice::expand}, {"reduce", KroneckerChoice::reduce}, {"paper", KroneckerChoice::paper}},
      "How the positions of a convolution enter the Kronecker factors");
  app.add_flag("--damping", flags.damping, "Damp the Kronecker factors instead of adding the prior exactly");
  app.add_flag("--correction", flags.correction, "Add ½ gᵀH⁻¹g, for weights that are not at a mode");
  add_count(app, "--mc-samples", flags.mc_samples, "Samples of the Monte-Carlo Fisher (default: 1)");
  add_count(app, "--batch-size", flags.batch_size, "Examples at once (default: 128)");
}

}  // namespace

const char* word_of(StructureChoice choice) { return word_in(structures, choice); }
const char* word_of(CurvatureChoice choice) { return word_in(curvatures, choice); }
const char* word_of(PriorChoice choice) { return choice == PriorChoice::groups ? "groups" : word_in(priors, choice); }

void declare_evidence(CLI::App& app, EvidenceFlags& flags) {
  flags.common.dtype = FloatType::float64;
  app.description("The log marginal likelihood of a network at given hyperparameters, and its gradient.");
  app.footer(
      "ockham evidence --network net.pt --inputs x.npy --targets y.npy --likelihood categorical --json\n"
      "ockham evidence --network net.pt --inputs x.npy --targets y.npy --likelihood gaussian --noise 0.3 "
      "--prior-precision 10\n"
      "ockham evidence --network net.pt --inputs x.npy --targets y.npy --likelihood gaussian --structure full --prior "
      "layerwise "
      "--test-inputs new.npy --json");
  app.add_option("--network", flags.network, "TorchScript file that maps [N, ...] to [N, C] (required)")
      ->option_text("FILE.pt");
  app.add_option("--inputs", flags.inputs, "Inputs [N, ...] (required)")->option_text("X.npy");
  app.add_option("--targets", flags.targets, "Targets [N] or [N, C] (required)")->option_text("Y.npy");
  app.add_option("--test-inputs", flags.test_inputs, "Also predict for these inputs")->option_text("X.npy");
  app.add_option_function<std::string>(
         "--from-run",
         [](const std::string& run) {
           throw CLI::ValidationError(
               "--from-run",
               fmt::format("run directories such as '{}' cannot be read by this version; give --network, --inputs and "
                           "--targets instead",
                           run));
         },
         "Take network, data and hyperparameters from a run directory (not in this version)")
      ->option_text("RUN");
  add_model(app, flags);
  add_curvature(app, flags);
  add_common_flags(app, flags.common);
  app.callback([&flags] {
    if (flags.network.empty()) throw CLI::RequiredError("--network");
    if (flags.inputs.empty()) throw CLI::RequiredError("--inputs");
    if (flags.targets.empty()) throw CLI::RequiredError("--targets");
    if (flags.likelihood == LikelihoodChoice::unset) throw CLI::RequiredError("--likelihood");
  });
}

}  // namespace ockham::app
