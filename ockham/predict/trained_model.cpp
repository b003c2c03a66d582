#include "ockham/predict/trained_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <numeric>

#include "ockham/base/error.h"
#include "ockham/base/printable.h"
#include "ockham/curvature/curvature_tensors.h"
#include "ockham/network/architectures.h"
#include "ockham/network/initialise.h"
#include "ockham/network/scaled_images.h"
#include "ockham/network/torchscript.h"
#include "ockham/predict/checked_tensors.h"
#include "ockham/predict/feature_scaling.h"
#include "ockham/predict/model_description.h"
#include "ockham/store/safetensors.h"

namespace ockham {
namespace {

constexpr const char* file_kind = "ockham trained model";
const std::string weights_prefix = "weights.", posterior_prefix = "posterior.";

[[noreturn]] void refuse(ErrorKind kind, const std::string& sentence) { throw Error(kind, sentence); }

/// What the parts of a model must say about each other; `kind` is whose mistake it is when they do not.
void expect_consistent(ErrorKind kind, const Likelihood& likelihood, int64_t outputs, const TableEncoding& encoding,
                       const std::vector<int64_t>& input_shape, bool images) {
  const bool classes = std::holds_alternative<Categorical>(likelihood) || std::holds_alternative<Bernoulli>(likelihood);
  if (classes != (encoding.task == Task::classification))
    refuse(kind, fmt::format("a {} likelihood does not belong to a {} table", name_of(likelihood),
                             classes ? "regression" : "classification"));
  const auto width = static_cast<int64_t>(classes ? encoding.classes.size() : encoding.targets.size());
  const bool one_logit = std::holds_alternative<Bernoulli>(likelihood);
  if (one_logit ? outputs != 1 || width != 2 : outputs != width)
    refuse(kind, fmt::format("the network has {} outputs, but the table {} {}", outputs, width,
                             classes ? "classes" : "targets"));
  if (std::holds_alternative<Poisson>(likelihood)) {
    for (const TargetEncoding& target : encoding.targets)
      if (target.mean != 0 || target.sd != 1)
        refuse(kind, fmt::format("the target '{}' is scaled, but a poisson likelihood needs counts", target.name));
  }
  if (images) return;  // they have no table
  const auto features = static_cast<int64_t>(feature_names(encoding).size());
  const int64_t shaped =
      std::accumulate(input_shape.begin(), input_shape.end(), int64_t{1}, std::multiplies<int64_t>());
  if (features != shaped)
    refuse(kind, fmt::format("the network takes inputs of shape [{}], but the table has {} features",
                             fmt::join(input_shape, ", "), features));
}

void expect_same_state(const TrainedModel& trained) {
  const Model& model = trained.model;
  if (!model.network.flat_parameters().equal(trained.posterior.mode))
    refuse(ErrorKind::usage,
           "the posterior is at other weights than the network's; fit it again before the model is saved");
  const at::Tensor shift = root_hyperparameters(model.likelihood, model.hyperparameters) -
                           root_hyperparameters(model.likelihood, trained.posterior.fitted_at);
  if ((shift.abs() > 1e-12).any().item<bool>())
    refuse(ErrorKind::usage,
           "the posterior was fitted at another temperature or noise per output; fit it again before the model is "
           "saved");
}

std::vector<std::pair<std::string, std::vector<std::string>>> groups_of(const Prior& prior) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  if (prior.kind() != PriorKind::groups) return groups;
  for (const std::string& name : prior.names()) groups.push_back({name, {}});
  for (size_t i = 0; i < prior.layout().count(); ++i)
    groups[static_cast<size_t>(prior.slot(i).first)].second.push_back(prior.layout()[i].name);
  return groups;
}

Prior make_prior(const ModelDescription& description, const ParameterLayout& layout) {
  switch (description.prior) {
    case PriorKind::scalar:
      return Prior::scalar(layout);
    case PriorKind::layerwise:
      return Prior::layerwise(layout);
    case PriorKind::diagonal:
      return Prior::diagonal(layout);
    case PriorKind::ard:
      return Prior::ard(layout);
    case PriorKind::groups:
      return Prior::grouped(layout, description.prior_groups);
  }
  refuse(ErrorKind::data, "the model's prior is not known");
}

void add_scaling(const TableEncoding& encoding, NamedTensors& tensors) {
  const FeatureScaling features = feature_scaling(encoding);
  tensors["scaling.input_mean"] = features.mean;
  tensors["scaling.input_sd"] = features.sd;
  tensors["scaling.target_mean"] = target_means(encoding);
  tensors["scaling.target_sd"] = target_scales(encoding);
}

ModelDescription describe(const TrainedModel& trained) {
  const LaplaceFit& posterior = trained.posterior;
  ModelDescription description;
  description.network = trained.network;
  description.torchscript = !trained.torchscript.empty();
  description.input_shape = trained.input_shape;
  description.outputs = posterior.data_fit.outputs();
  description.dtype = trained.model.network.dtype();
  description.likelihood = trained.model.likelihood;
  description.prior = trained.model.prior.kind();
  description.prior_groups = groups_of(trained.model.prior);
  description.laplace = posterior.options;
  description.examples = posterior.data_fit.examples();
  description.messages = posterior.messages;
  description.images = trained.images;
  if (trained.images) description.classes = trained.encoding.classes;
  return description;
}

/// A network that a file describes cannot have more weights than the file.
int64_t count_values(const NamedTensors& tensors) {
  int64_t count = 0;
  for (const auto& [name, tensor] : tensors) count += tensor.numel();
  return count;
}

Network make_network(const ModelDescription& description, const std::string& torchscript, CheckedTensors& reader) {
  const ParameterLimit limit(count_values(reader.with_prefix(weights_prefix)));
  const Network network =
      description.torchscript
          ? parse_torchscript(torchscript, description.network, description.dtype)
          : make_architecture(description.network, description.input_shape, description.outputs, description.dtype, 0);
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < network.layout().count(); ++i) {
    const ParameterSlot& slot = network.layout()[i];
    at::Tensor parameter = network.parameters()[i];
    parameter.copy_(reader.take(weights_prefix + slot.name, description.dtype, slot.shape));
  }
  return description.images ? scale_images(network, *description.images) : network;
}

Hyperparameters read_hyperparameters(const ModelDescription& description, const Prior& prior, CheckedTensors& reader) {
  Hyperparameters values = default_likelihood_hyperparameters(description.likelihood, description.outputs);
  values.log_prior_precision = reader.take_vector("prior.log_precision", prior.size());
  values.log_noise = reader.take_vector("noise.log_sd", values.log_noise.numel());
  values.log_temperature = reader.take_vector("temperature.log", values.log_temperature.numel());
  return values;
}

DataFit read_data_fit(const ModelDescription& description, const Hyperparameters& values, CheckedTensors& reader) {
  DataFit::Summary summary;
  summary.examples = description.examples;
  summary.outputs = description.outputs;
  const at::Tensor terms = reader.take("data_fit.log_likelihood", at::kDouble, {2});
  summary.value = terms[0].item<double>();
  summary.temperature_gradient = terms[1].item<double>();
  if (reader.has("data_fit.squared_residuals"))
    summary.squared_residuals = reader.take("data_fit.squared_residuals", at::kDouble, {description.outputs});
  return DataFit(description.likelihood, values, summary);
}

TrainedModel assemble(TensorFile file) {
  const auto text = [&](const char* key) -> const std::string& {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end())
      refuse(ErrorKind::data, fmt::format("'{}' is missing in its metadata; it is damaged", key));
    return found->second;
  };
  const ModelDescription description = parse_description(text("model"));
  const TableEncoding encoding =
      description.images ? image_encoding(description.classes) : parse_encoding(text("encoding"));
  expect_consistent(ErrorKind::data, description.likelihood, description.outputs, encoding, description.input_shape,
                    description.images.has_value());
  CheckedTensors reader(std::move(file.tensors));
  const std::string torchscript = description.torchscript ? reader.take_bytes("network.torchscript") : std::string();
  const Network network = make_network(description, torchscript, reader);
  const Prior prior = make_prior(description, network.layout());
  const Hyperparameters values = read_hyperparameters(description, prior, reader);
  DataFit data_fit = read_data_fit(description, values, reader);

  DecomposeOptions decompose;
  decompose.damping = description.laplace.damping;
  decompose.eigenvectors = false;  // as fit_laplace does: the same steps give the same bits
  DecomposedCurvature curvature(curvature_from_tensors(reader.with_prefix(posterior_prefix), network.layout()), prior,
                                decompose);
  const at::Tensor mode = network.flat_parameters();
  LaplaceFit posterior{description.likelihood,
                       prior,
                       description.laplace,
                       values.clone(),
                       mode,
                       prior.statistics(mode),
                       std::move(data_fit),
                       std::move(curvature),
                       {},
                       {},
                       description.messages};
  return {description.network,  torchscript, description.input_shape, {network, description.likelihood, prior, values},
          std::move(posterior), encoding,    description.images};
}

void expect_readable(const TensorFile& file) {
  const auto kind = file.metadata.find("format");
  if (kind == file.metadata.end() || kind->second != file_kind)
    refuse(ErrorKind::data, "is no model of ockham; one is written by ockham fit");
  const auto version = file.metadata.find("format_version");
  const int found = version == file.metadata.end() ? 0 : std::atoi(version->second.c_str());
  if (found < 1) refuse(ErrorKind::data, "has no format version; it is damaged");
  if (found > model_format_version)
    refuse(ErrorKind::data, fmt::format("has model format {}, but this ockham reads up to {}; use a newer ockham",
                                        found, model_format_version));
}

}  // namespace

TableEncoding image_encoding(const std::vector<std::string>& classes) {
  TableEncoding encoding;
  encoding.task = Task::classification;
  encoding.classes = classes;
  TargetEncoding target;
  target.name = "class";
  encoding.targets = {target};
  return encoding;
}

void save_trained_model(const std::string& path, const TrainedModel& trained) {
  const Model& model = trained.model;
  expect_consistent(ErrorKind::usage, model.likelihood, trained.posterior.data_fit.outputs(), trained.encoding,
                    trained.input_shape, trained.images.has_value());
  expect_same_state(trained);
  TensorFile file;
  file.metadata = {{"format", file_kind},
                   {"format_version", std::to_string(model_format_version)},
                   {"model", format_description(describe(trained))}};
  if (!trained.images) file.metadata["encoding"] = format_encoding(trained.encoding);
  NamedTensors& tensors = file.tensors;
  for (size_t i = 0; i < model.network.layout().count(); ++i)
    tensors[weights_prefix + model.network.layout()[i].name] = model.network.parameters()[i];
  tensors["prior.log_precision"] = model.hyperparameters.log_prior_precision;
  if (model.hyperparameters.log_noise.numel() > 0) tensors["noise.log_sd"] = model.hyperparameters.log_noise;
  if (model.hyperparameters.log_temperature.numel() > 0)
    tensors["temperature.log"] = model.hyperparameters.log_temperature;
  for (auto& [name, tensor] : curvature_to_tensors(trained.posterior.curvature.curvature()))
    tensors[posterior_prefix + name] = tensor;
  const DataFit::Summary summary = trained.posterior.data_fit.summary();
  tensors["data_fit.log_likelihood"] = at::tensor({summary.value, summary.temperature_gradient}, at::kDouble);
  if (summary.squared_residuals.defined()) tensors["data_fit.squared_residuals"] = summary.squared_residuals;
  if (trained.images) {
    tensors["scaling.channel_mean"] = at::tensor(trained.images->mean, at::kDouble);
    tensors["scaling.channel_sd"] = at::tensor(trained.images->sd, at::kDouble);
  } else {
    add_scaling(trained.encoding, tensors);
  }
  if (!trained.torchscript.empty()) {
    at::Tensor bytes = at::empty({static_cast<int64_t>(trained.torchscript.size())}, at::kByte);
    std::memcpy(bytes.data_ptr(), trained.torchscript.data(), trained.torchscript.size());
    tensors["network.torchscript"] = bytes;
  }
  write_safetensors(path, file);
}

TrainedModel load_trained_model(const std::string& path) {
  TensorFile file = read_safetensors(path);
  try {
    expect_readable(file);
    return assemble(std::move(file));
  } catch (const Error& error) {
    // A mistake of the file, whoever noticed it.
    const ErrorKind kind = error.kind() == ErrorKind::usage ? ErrorKind::data : error.kind();
    throw Error(kind, fmt::format("{}: {}", path, printable(error.what())));
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    throw Error(ErrorKind::data, fmt::format("{}: is damaged, the model in it cannot be made ({})", path,
                                             printable(message.substr(0, message.find('\n')))));
  }
}

}  // namespace ockham
