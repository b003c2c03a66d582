#include "tests/support/trained_cases.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "ockham/network/torchscript.h"
#include "ockham/train/train_online.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torchscript_builder.h"

namespace ockham::testing {
namespace {

bool two_targets(const Likelihood& likelihood) {
  const auto* gaussian = std::get_if<Gaussian>(&likelihood);
  return gaussian != nullptr && gaussian->noise_per_output;
}

Prior make_prior(PriorKind kind, const ParameterLayout& layout) {
  switch (kind) {
    case PriorKind::scalar:
      return Prior::scalar(layout);
    case PriorKind::diagonal:
      return Prior::diagonal(layout);
    case PriorKind::ard:
      return Prior::ard(layout);
    case PriorKind::groups: {
      std::vector<std::string> first = {layout[0].name}, rest;
      for (size_t i = 1; i < layout.count(); ++i) rest.push_back(layout[i].name);
      return Prior::grouped(layout, {{"the rest", rest}, {"the first", first}});
    }
    default:
      return Prior::layerwise(layout);
  }
}

}  // namespace

CsvTable trained_table(const Likelihood& likelihood, int64_t rows, uint64_t seed) {
  const std::vector<std::string> colours = {"red", "green", "blue"}, kinds = {"a", "b", "c"};
  const at::Tensor noise = at::randn({rows, 4}, random_stream({seed}), at::kDouble);
  std::vector<std::string> names = {"width", "colour", "height"};
  if (std::holds_alternative<Gaussian>(likelihood)) names.push_back("price");
  if (two_targets(likelihood)) names.push_back("weight");
  if (std::holds_alternative<Poisson>(likelihood)) names.push_back("visits");
  const bool classes = std::holds_alternative<Categorical>(likelihood) || std::holds_alternative<Bernoulli>(likelihood);
  if (classes) names.push_back("kind");
  std::vector<std::vector<std::string>> fields;
  for (int64_t row = 0; row < rows; ++row) {
    const auto z = noise[row].contiguous();
    const double* value = z.data_ptr<double>();
    const double width = 30 + 5 * value[0], height = 1000 + 200 * value[1];
    const auto colour = static_cast<size_t>((row * 7 + static_cast<int64_t>(seed)) % 3);
    const double signal = std::sin(value[0]) + 0.7 * value[1] + static_cast<double>(colour);
    fields.push_back({fmt::format("{}", width), colours[colour], fmt::format("{}", height)});
    if (std::holds_alternative<Gaussian>(likelihood))
      fields.back().push_back(fmt::format("{}", 500 + 40 * signal + 10 * value[2]));
    if (two_targets(likelihood)) fields.back().push_back(fmt::format("{}", 0.01 * signal * signal + 0.002 * value[3]));
    if (std::holds_alternative<Poisson>(likelihood))
      fields.back().push_back(fmt::format("{}", std::floor(std::exp(0.5 * signal))));
    if (classes) {
      const int64_t kind = (signal > 0.5 ? 1 : 0) + (signal > 1.5 && std::holds_alternative<Categorical>(likelihood));
      fields.back().push_back(kinds[static_cast<size_t>(kind)]);
    }
  }
  return make_table("table.csv", names, fields);
}

TrainedModel make_trained(const TrainedCase& wanted, int64_t epochs) {
  const CsvTable table = trained_table(wanted.likelihood);
  EncodingOptions options;
  options.targets = {table.names[3]};
  if (two_targets(wanted.likelihood)) options.targets.push_back(table.names[4]);
  const bool poisson = std::holds_alternative<Poisson>(wanted.likelihood);
  if (poisson) options.task = Task::regression;
  TableEncoding encoding = learn_encoding(table, options);
  if (poisson) encoding.targets[0].mean = 0, encoding.targets[0].sd = 1;
  const auto features = static_cast<int64_t>(feature_names(encoding).size());
  const bool categorical = std::holds_alternative<Categorical>(wanted.likelihood);
  const int64_t outputs = categorical ? 3 : two_targets(wanted.likelihood) ? 2 : 1;

  const Network network = wanted.torchscript.empty()
                              ? make_architecture(wanted.spec, {features}, outputs, wanted.dtype, 5)
                              : parse_torchscript(wanted.torchscript, wanted.spec, wanted.dtype);
  const Prior prior = make_prior(wanted.prior, network.layout());
  Hyperparameters values = default_likelihood_hyperparameters(wanted.likelihood, outputs);
  values.log_prior_precision = 0.3 * at::randn({prior.size()}, random_stream({8}), at::kDouble);
  values.log_noise = values.log_noise - 0.4 - 0.1 * at::arange(values.log_noise.numel(), at::kDouble);
  values.log_temperature = values.log_temperature + 0.2;
  LaplaceOptions laplace;
  laplace.curvature.structure = wanted.structure;
  laplace.curvature.root_derivatives = wanted.root_derivatives;
  laplace.damping = wanted.damping;
  Model model{network, wanted.likelihood, prior, values};
  const Dataset data(encode_inputs(encoding, table).to(wanted.dtype),
                     prepare_targets(wanted.likelihood, encode_targets(encoding, table), outputs, wanted.dtype));
  if (epochs > 0) {
    OnlineOptions online;
    online.epochs = epochs;
    online.frequency = epochs;
    online.hyper.steps = 1;
    online.hyper.learn_noise = root_hyperparameter_count(wanted.likelihood, outputs) == 0 || wanted.root_derivatives;
    online.optimiser.learning_rate = 0.02;
    online.laplace = laplace;
    model.hyperparameters = train_online(model, data, online).best.hyperparameters;
  }
  LaplaceFit posterior = fit_laplace(model, data, laplace);
  return {wanted.spec, wanted.torchscript, {features}, model, std::move(posterior), encoding};
}

Dataset trained_data(const TrainedModel& trained, const Likelihood& likelihood, int64_t rows, uint64_t seed) {
  const CsvTable table = trained_table(likelihood, rows, seed);
  return Dataset(encode_inputs(trained.encoding, table), encode_targets(trained.encoding, table));
}

std::string torchscript_bytes(int64_t outputs) {
  const TemporaryDirectory directory;
  const auto values = [](std::vector<int64_t> shape, uint64_t seed) {
    return 0.5 * at::randn(shape, random_stream({seed}), at::kDouble);
  };
  TorchScriptBuilder()
      .parameter("inner.weight", values({3, 5}, 1))
      .parameter("inner.bias", values({3}, 2))
      .parameter("last.weight", values({outputs, 3}, 3))
      .define(R"(
def forward(self, x):
    return torch.linear(torch.tanh(torch.linear(x, self.inner.weight, self.inner.bias)), self.last.weight)
)")
      .save(directory.path("net.pt"));
  return read_bytes(directory.path("net.pt"));
}

}  // namespace ockham::testing
