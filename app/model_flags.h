// The words for models and their curvature, and the ways to read numbers: shared by the subcommands that have such
// flags. Knows no libtorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/flags.h"

namespace ockham::app {

enum class LikelihoodChoice { unset, gaussian, categorical, bernoulli, poisson };
enum class StructureChoice { unset, full, kron, block, diag };
enum class CurvatureChoice { ggn, ef, mc };
enum class PriorChoice { scalar, layerwise, diagonal, ard, groups };
enum class KroneckerChoice { expand, reduce, paper };

template <class Choice>
using Words = std::vector<std::pair<std::string, Choice>>;

/// Without `unset` and `groups`, which are no words.
const Words<LikelihoodChoice>& likelihood_words();
const Words<StructureChoice>& structure_words();
const Words<CurvatureChoice>& curvature_words();
const Words<PriorChoice>& prior_words();
const Words<KroneckerChoice>& kronecker_words();

/// The words of the choices on the command line and in the JSON.
const char* word_of(LikelihoodChoice choice);
const char* word_of(StructureChoice choice);
const char* word_of(CurvatureChoice choice);
const char* word_of(PriorChoice choice);
const char* word_of(KroneckerChoice choice);

/// "a,b,c" to its parts.
std::vector<std::string> split_list(const std::string& text);

/// A positive number; `what` names it in the sentence. Throws CLI::ValidationError.
double parse_positive(const std::string& flag, const std::string& what, const std::string& text);
/// "0.5" or "0.5,0.1,..."; a list in a configuration file arrives as several texts.
std::vector<double> parse_positives(const std::string& flag, const std::string& what,
                                    const std::vector<std::string>& texts);
/// A whole number of at least `smallest`.
int64_t parse_count(const std::string& flag, int64_t smallest, const std::string& text);

CLI::Option* add_positive(CLI::App& app, const std::string& flag, double& value, const std::string& what,
                          const std::string& help);
CLI::Option* add_count(CLI::App& app, const std::string& flag, int64_t& value, int64_t smallest,
                       const std::string& help);
CLI::Option* add_ggn_tolerance(CLI::App& app, double& value);

}  // namespace ockham::app
