#include "app/model_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace ockham::app {
namespace {

constexpr double kSmallest = 1e-30, kLargest = 1e30;  // float32 has little more
constexpr int64_t kMost = 1'000'000'000'000;          // of anything that is counted

template <class Choice>
const char* word_in(const Words<Choice>& words, Choice choice) {
  for (const auto& [word, value] : words) {
    if (value == choice) return word.c_str();
  }
  return "";
}

}  // namespace

const Words<LikelihoodChoice>& likelihood_words() {
  static const Words<LikelihoodChoice> words = {{"gaussian", LikelihoodChoice::gaussian},
                                                {"categorical", LikelihoodChoice::categorical},
                                                {"bernoulli", LikelihoodChoice::bernoulli},
                                                {"poisson", LikelihoodChoice::poisson}};
  return words;
}

const Words<StructureChoice>& structure_words() {
  static const Words<StructureChoice> words = {{"full", StructureChoice::full},
                                               {"kron", StructureChoice::kron},
                                               {"block", StructureChoice::block},
                                               {"diag", StructureChoice::diag}};
  return words;
}

const Words<CurvatureChoice>& curvature_words() {
  static const Words<CurvatureChoice> words = {
      {"ggn", CurvatureChoice::ggn}, {"ef", CurvatureChoice::ef}, {"mc", CurvatureChoice::mc}};
  return words;
}

const Words<PriorChoice>& prior_words() {
  static const Words<PriorChoice> words = {{"scalar", PriorChoice::scalar},
                                           {"layerwise", PriorChoice::layerwise},
                                           {"diagonal", PriorChoice::diagonal},
                                           {"ard", PriorChoice::ard}};
  return words;
}

const Words<KroneckerChoice>& kronecker_words() {
  static const Words<KroneckerChoice> words = {
      {"expand", KroneckerChoice::expand}, {"reduce", KroneckerChoice::reduce}, {"paper", KroneckerChoice::paper}};
  return words;
}

const char* word_of(LikelihoodChoice choice) { return word_in(likelihood_words(), choice); }
const char* word_of(StructureChoice choice) { return word_in(structure_words(), choice); }
const char* word_of(CurvatureChoice choice) { return word_in(curvature_words(), choice); }
const char* word_of(PriorChoice choice) {
  return choice == PriorChoice::groups ? "groups" : word_in(prior_words(), choice);
}
const char* word_of(KroneckerChoice choice) { return word_in(kronecker_words(), choice); }

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

double parse_positive(const std::string& flag, const std::string& what, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  // Not (value > 0) rather than value <= 0: NaN must not pass.
  if (end == text.c_str() || *end != '\0' || !std::isfinite(value) || !(value > 0)) {
    throw CLI::ValidationError(flag, fmt::format("{} must be a positive number, got '{}'", what, text));
  }
  if (value < kSmallest || value > kLargest) {
    throw CLI::ValidationError(flag,
                               fmt::format("{} must be from {} to {}, got '{}'", what, kSmallest, kLargest, text));
  }
  return value;
}

std::vector<double> parse_positives(const std::string& flag, const std::string& what,
                                    const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const auto& text : texts) {
    for (const auto& part : split_list(text)) values.push_back(parse_positive(flag, what, part));
  }
  if (values.empty()) throw CLI::ValidationError(flag, fmt::format("{} is missing", what));
  return values;
}

int64_t parse_count(const std::string& flag, int64_t smallest, const std::string& text) {
  char* end = nullptr;
  const long long count = std::strtoll(text.c_str(), &end, 10);  // the largest number there is when it is too large
  if (count > kMost) throw CLI::ValidationError(flag, fmt::format("expected at most {}, got '{}'", kMost, text));
  if (end == text.c_str() || *end != '\0' || count < smallest) {
    throw CLI::ValidationError(
        flag, smallest == 1 ? fmt::format("expected a positive whole number, got '{}'", text)
                            : fmt::format("expected a whole number of at least {}, got '{}'", smallest, text));
  }
  return count;
}

CLI::Option* add_positive(CLI::App& app, const std::string& flag, double& value, const std::string& what,
                          const std::string& help) {
  return app.add_option_function<std::string>(
      flag, [&value, flag, what](const std::string& text) { value = parse_positive(flag, what, text); }, help);
}

CLI::Option* add_count(CLI::App& app, const std::string& flag, int64_t& value, int64_t smallest,
                       const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag, [&value, flag, smallest](const std::string& text) { value = parse_count(flag, smallest, text); }, help)
      ->option_text("N");
}

CLI::Option* add_ggn_tolerance(CLI::App& app, double& value) {
  const std::string flag = "--ggn-tolerance";
  const auto parse = [&value, flag](const std::string& text) {
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(value >= 0 && value <= 1))
      throw CLI::ValidationError(flag, "expected a number from 0 (exact) to 1, got '" + text + "'");
  };
  return app
      .add_option_function<std::string>(
          flag, parse,
          "Gauss-Newton of several outputs, kron or diag, in fewer backward passes: what is "
          "left out is drawn at random (by --seed), with a typical error of this share "
          "of the whole; 1e-3 halves the time with ten classes (default: 0, exact)")
      ->option_text("T");
}

}  // namespace ockham::app
