#include "ockham/predict/model_description.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ockham/base/error.h"
#include "ockham/base/printable.h"

namespace ockham {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

const Words<Structure> structures = {{"full", Structure::full},
                                     {"block", Structure::block},
                                     {"kron", Structure::kronecker},
                                     {"diag", Structure::diagonal}};
const Words<CurvatureKind> curvatures = {
    {"ggn", CurvatureKind::ggn}, {"ef", CurvatureKind::empirical_fisher}, {"mc", CurvatureKind::mc_fisher}};
const Words<KroneckerRule> rules = {
    {"expand", KroneckerRule::expand}, {"reduce", KroneckerRule::reduce}, {"paper", KroneckerRule::paper}};
const Words<PriorKind> priors = {{"scalar", PriorKind::scalar},
                                 {"layerwise", PriorKind::layerwise},
                                 {"diagonal", PriorKind::diagonal},
                                 {"ard", PriorKind::ard},
                                 {"groups", PriorKind::groups}};
const Words<at::ScalarType> types = {{"float32", at::kFloat}, {"float64", at::kDouble}};
const Words<Likelihood> likelihoods = {{name_of(Gaussian{}), Gaussian{}},
                                       {name_of(Categorical{}), Categorical{}},
                                       {name_of(Bernoulli{}), Bernoulli{}},
                                       {name_of(Poisson{}), Poisson{}}};

template <class Value>
std::string word_of(const Words<Value>& words, Value value) {
  for (const auto& [word, known] : words)
    if (known == value) return word;
  throw Error(ErrorKind::failure, "a model has a setting that its file format cannot hold");
}

template <class Value>
Value value_of(const Words<Value>& words, const Json& json, const char* key) {
  const std::string word = json.at(key);
  for (const auto& [known, value] : words)
    if (known == word) return value;
  throw Error(ErrorKind::data, fmt::format("the model's {} is '{}', which is not known; it is damaged, or made by a "
                                           "newer ockham",
                                           key, printable(word)));
}

void expect(bool good, const char* what) {
  if (!good) throw Error(ErrorKind::data, fmt::format("the model's {} is impossible; it is damaged", what));
}

/// A conversion of 1e300 would be undefined.
int64_t whole_number(const Json& json, const char* what) {
  expect(json.is_number_integer(), what);
  return json.get<int64_t>();
}

Json laplace_json(const LaplaceOptions& laplace) {
  const CurvatureOptions& curvature = laplace.curvature;
  return {{"structure", word_of(structures, curvature.structure)},
          {"curvature", word_of(curvatures, curvature.kind)},
          {"kron_approx", word_of(rules, curvature.kronecker_rule)},
          {"mc_samples", curvature.mc_samples},
          {"ggn_tolerance", curvature.ggn_tolerance},
          {"seed", curvature.seed},
          {"likelihood_weight", laplace.likelihood_weight},
          {"damping", laplace.damping},
          {"without_recognisers", curvature.observe.without_recognisers},
          {"leave_unexplained", curvature.observe.leave_unexplained}};
}

LaplaceOptions parse_laplace(const Json& json) {
  LaplaceOptions laplace;
  CurvatureOptions& curvature = laplace.curvature;
  curvature.structure = value_of(structures, json, "structure");
  curvature.kind = value_of(curvatures, json, "curvature");
  curvature.kronecker_rule = value_of(rules, json, "kron_approx");
  curvature.mc_samples = whole_number(json.at("mc_samples"), "number of samples");
  curvature.ggn_tolerance = json.value("ggn_tolerance", 0.0);  // older models have none
  curvature.seed = static_cast<uint64_t>(whole_number(json.at("seed"), "seed"));
  json.at("likelihood_weight").get_to(laplace.likelihood_weight);
  json.at("damping").get_to(laplace.damping);
  json.at("without_recognisers").get_to(curvature.observe.without_recognisers);
  json.at("leave_unexplained").get_to(curvature.observe.leave_unexplained);
  expect(laplace.likelihood_weight > 0 && std::isfinite(laplace.likelihood_weight), "likelihood weight");
  return laplace;
}

ImageScaling parse_scaling(const Json& json, const ModelDescription& description) {
  ImageScaling scaling;
  json.at("channel_mean").get_to(scaling.mean);
  json.at("channel_sd").get_to(scaling.sd);
  const std::vector<int64_t>& shape = description.input_shape;
  expect(shape.size() == 3 && scaling.mean.size() == scaling.sd.size() &&
             static_cast<int64_t>(scaling.mean.size()) == shape[0],
         "scaling of images");
  for (const double sd : scaling.sd) expect(sd > 0 && std::isfinite(sd), "scaling of images");
  for (const double mean : scaling.mean) expect(std::isfinite(mean), "scaling of images");
  return scaling;
}

ModelDescription parse_fields(const Json& json) {
  ModelDescription description;
  json.at("network").get_to(description.network);
  json.at("torchscript").get_to(description.torchscript);
  for (const Json& size : json.at("input_shape")) description.input_shape.push_back(whole_number(size, "input shape"));
  description.outputs = whole_number(json.at("outputs"), "number of outputs");
  description.dtype = value_of(types, json, "dtype");
  const std::string likelihood = json.at("likelihood");
  bool known = false;
  for (const auto& [word, value] : likelihoods) {
    if (word != likelihood) continue;
    description.likelihood = value;
    known = true;
  }
  expect(known, "likelihood");
  if (auto* gaussian = std::get_if<Gaussian>(&description.likelihood))
    json.at("noise_per_output").get_to(gaussian->noise_per_output);
  description.prior = value_of(priors, json, "prior");
  for (const Json& group : json.at("prior_groups"))
    description.prior_groups.emplace_back(group.at("name"), group.at("parameters").get<std::vector<std::string>>());
  description.laplace = parse_laplace(json.at("posterior"));
  description.examples = whole_number(json.at("examples"), "number of examples");
  json.at("messages").get_to(description.messages);

  constexpr int64_t largest = int64_t{1} << 30;
  int64_t features = 1;
  for (int64_t size : description.input_shape) {
    expect(size > 0 && size <= largest && features <= largest, "input shape");
    features *= size;
  }
  expect(features <= largest, "input shape");
  expect(description.outputs > 0 && description.outputs <= largest, "number of outputs");
  expect(description.examples > 0, "number of examples");
  if (json.contains("images")) {
    description.images = parse_scaling(json.at("images"), description);
    json.at("images").at("classes").get_to(description.classes);
    expect(description.classes.size() >= 2, "list of classes");
  }
  return description;
}

}  // namespace

std::string format_description(const ModelDescription& description) {
  const auto* gaussian = std::get_if<Gaussian>(&description.likelihood);
  Json groups = Json::array();
  for (const auto& [name, parameters] : description.prior_groups)
    groups.push_back({{"name", name}, {"parameters", parameters}});
  Json json = {{"network", description.network},
               {"torchscript", description.torchscript},
               {"input_shape", description.input_shape},
               {"outputs", description.outputs},
               {"dtype", word_of(types, description.dtype)},
               {"likelihood", name_of(description.likelihood)},
               {"noise_per_output", gaussian != nullptr && gaussian->noise_per_output},
               {"prior", word_of(priors, description.prior)},
               {"prior_groups", groups},
               {"posterior", laplace_json(description.laplace)},
               {"examples", description.examples},
               {"messages", description.messages}};
  if (description.images)
    json["images"] = {{"channel_mean", description.images->mean},
                      {"channel_sd", description.images->sd},
                      {"classes", description.classes}};
  return json.dump(1);
}

ModelDescription parse_description(const std::string& json) {
  try {
    return parse_fields(Json::parse(json));
  } catch (const nlohmann::json::exception& problem) {
    throw Error(ErrorKind::data, fmt::format("the model's description cannot be read ({}); it is damaged",
                                             printable(std::string(problem.what()).substr(0, 200))));
  }
}

}  // namespace ockham
