#include "ockham/predict/export_torchscript.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <cmath>
#include <sstream>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "ockham/network/torchscript_module.h"
#include "ockham/predict/feature_scaling.h"
#include "ockham/predict/table_predictions.h"

namespace ockham {
namespace {

using torch::jit::Module;

/// Modules of Python have this flag, and Python's eval() and train() set it.
Module new_module(const std::string& name) {
  Module module(name);
  module.register_attribute("training", c10::BoolType::get(), false);
  return module;
}

/// The (nested) submodule that owns a dotted name, made when it is not there yet, and the last part of the name.
std::pair<Module, std::string> owner_of(Module module, const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return {module, name};
  const std::string first = name.substr(0, dot);
  if (!module.hasattr(first)) module.register_module(first, new_module("Part_" + first));
  return owner_of(module.attr(first).toModule(), name.substr(dot + 1));
}

/// The network on scaled inputs; that of images has the scaling inside.
Network without_scaling(const TrainedModel& trained) {
  const Network& scaled = trained.model.network;
  if (!trained.images) return scaled;
  const Network network =
      make_architecture(trained.network, trained.input_shape, trained.posterior.data_fit.outputs(), scaled.dtype(), 0);
  network.set_flat_parameters(scaled.flat_parameters());
  return network;
}

/// Records one forward pass. Parameters of the module are recognised by identity and stay parameters.
Module trace_network(const TrainedModel& trained) {
  const Network network = without_scaling(trained);
  Module module = new_module("Network");
  for (size_t i = 0; i < network.layout().count(); ++i) {
    auto [owner, name] = owner_of(module, network.layout()[i].name);
    owner.register_parameter(name, network.parameters()[i], /*is_buffer=*/false);
  }
  std::vector<int64_t> shape = {2};
  shape.insert(shape.end(), trained.input_shape.begin(), trained.input_shape.end());
  const at::Tensor example = at::zeros(shape, at::TensorOptions().dtype(network.dtype()));
  const auto traced = torch::jit::tracer::trace(
      {example},
      [&](torch::jit::Stack inputs) -> torch::jit::Stack { return {network.forward(inputs.at(0).toTensor())}; },
      [](const at::Tensor&) { return std::string(); }, /*strict=*/true, /*force_outplace=*/false, &module, {"x"});
  torch::jit::Function* forward = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module.type()->name(), "forward"), traced.first->graph);
  module.type()->addMethod(forward);
  return module;
}

/// The program of the file, with the trained weights.
Module restore_network(const TrainedModel& trained) {
  Module module = parse_torchscript_module(trained.torchscript, trained.network, trained.model.network.dtype());
  const at::NoGradGuard no_grad;
  const ParameterLayout& layout = trained.model.network.layout();
  for (const auto& parameter : module.named_parameters()) {
    for (size_t i = 0; i < layout.count(); ++i)
      if (layout[i].name == parameter.name) at::Tensor(parameter.value).copy_(trained.model.network.parameters()[i]);
  }
  return module;
}

void add_texts(Module& module, const std::string& name, const std::vector<std::string>& texts) {
  c10::List<std::string> list;
  for (const std::string& text : texts) list.push_back(text);
  module.register_attribute(name, c10::ListType::create(c10::StringType::get()), list);
}

void add_text(Module& module, const std::string& name, const std::string& text) {
  module.register_attribute(name, c10::StringType::get(), text);
}

/// Of bytes: [channels, 1, 1].
FeatureScaling pixel_scaling(const ImageScaling& scaling) {
  const auto bytes = [](const std::vector<double>& values) {
    return (255 * at::tensor(values, at::kDouble)).reshape({-1, 1, 1});
  };
  return {bytes(scaling.mean), bytes(scaling.sd)};
}

void add_attributes(Module& module, const TrainedModel& trained) {
  const TableEncoding& encoding = trained.encoding;
  const bool classes = encoding.task == Task::classification;
  std::vector<std::string> targets;
  for (const TargetEncoding& target : encoding.targets) targets.push_back(target.name);
  const Hyperparameters& values = trained.model.hyperparameters;
  const FeatureScaling features = trained.images ? pixel_scaling(*trained.images) : feature_scaling(encoding);
  module.register_buffer("input_mean", features.mean);
  module.register_buffer("input_sd", features.sd);
  module.register_buffer("target_mean", target_means(encoding));
  module.register_buffer("target_sd", target_scales(encoding));
  const bool has_temperature = values.log_temperature.defined() && values.log_temperature.numel() > 0;
  module.register_buffer("temperature",
                         has_temperature ? values.log_temperature.exp().reshape({}) : at::ones({}, at::kDouble));
  const bool has_noise = values.log_noise.defined() && values.log_noise.numel() > 0;
  module.register_buffer("noise_sd",
                         has_noise ? target_scales(encoding) * values.log_noise.exp() : at::zeros({0}, at::kDouble));
  // Its type is the network's, also after a conversion of the whole module.
  module.register_buffer("network_type", at::zeros({0}, at::TensorOptions().dtype(trained.model.network.dtype())));
  add_text(module, "task", classes ? "classification" : "regression");
  add_text(module, "network_name", trained.network);
  add_texts(module, "feature_names", feature_names(encoding));
  add_texts(module, "target_names", targets);
  add_texts(module, "class_names", encoding.classes);
}

/// What follows the network: `f` are its outputs over the temperature.
std::string last_line(const Likelihood& likelihood) {
  if (std::holds_alternative<Categorical>(likelihood)) return "torch.softmax(f, 1)";
  if (std::holds_alternative<Bernoulli>(likelihood)) return "torch.cat([torch.sigmoid(-f), torch.sigmoid(f)], 1)";
  if (std::holds_alternative<Poisson>(likelihood)) return "torch.exp(f)";
  return "self.target_mean + self.target_sd * f";
}

Module make_module(const TrainedModel& trained) {
  Module module = new_module("Predictor");
  module.register_module("network", trained.torchscript.empty() ? trace_network(trained) : restore_network(trained));
  add_attributes(module, trained);
  const char* flattened = trained.images ? "x" : "torch.flatten(x, 1)";
  module.define(fmt::format(R"(
def forward(self, x):
    z = ({}.type_as(self.input_mean) - self.input_mean) / self.input_sd
    z = torch.reshape(z, [-1, {}]).type_as(self.network_type)
    f = self.network.forward(z).type_as(self.input_mean) / self.temperature
    return {}
)",
                            flattened, fmt::join(trained.input_shape, ", "), last_line(trained.model.likelihood)));
  return module;
}

/// Tracing records what happened once; that it happens again for other inputs and another number of them is looked at.
void verify(Module& module, const TrainedModel& trained) {
  const at::NoGradGuard no_grad;
  std::vector<int64_t> shape = {3};
  if (trained.images) {
    shape.insert(shape.end(), trained.input_shape.begin(), trained.input_shape.end());
  } else {
    shape.push_back(static_cast<int64_t>(feature_names(trained.encoding).size()));
  }
  const at::Tensor scaled = at::randn(shape, random_stream({0}), at::kDouble);
  const at::Tensor raw = module.attr("input_mean").toTensor() + module.attr("input_sd").toTensor() * scaled;
  PredictOptions options;
  options.method = PredictMethod::map;
  const TablePredictions expected = predict_table(trained, trained.images ? raw : scaled, options);
  const at::Tensor values = expected.probabilities.defined() ? expected.probabilities : expected.regression.mean;
  const at::Tensor found = module.forward({raw}).toTensor();
  const double tolerance = trained.model.network.dtype() == at::kDouble ? 1e-9 : 1e-4;
  if (found.sizes() != values.sizes() ||
      !found.allclose(values, tolerance, tolerance * values.abs().max().item<double>()))
    throw Error(
        ErrorKind::failure,
        fmt::format("the network '{}' cannot be exported: its TorchScript form gives other outputs", trained.network));
}

}  // namespace

void export_torchscript(const TrainedModel& trained, const std::string& path) {
  std::ostringstream bytes;
  try {
    Module module = make_module(trained);
    module.eval();
    verify(module, trained);
    module.save(bytes);
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    throw Error(ErrorKind::failure, fmt::format("the network '{}' cannot be exported ({})", trained.network,
                                                message.substr(0, message.find('\n'))));
  }
  write_atomically(path, bytes.str());
}

}  // namespace ockham
