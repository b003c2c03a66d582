#include "app/fit_candidates.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "app/counted.h"
#include "app/model_choices.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "ockham/network/initialise.h"
#include "ockham/network/scaled_images.h"
#include "ockham/network/torchscript.h"
#include "ockham/observe/verified_observer.h"
#include "ockham/select/automatic_image_settings.h"

namespace ockham::app {
namespace {

constexpr uint64_t kWeightStream = 0x7765696768740000;

/// A network that someone else made: it is looked at before the first epoch, not by the first curvature pass.
void expect_usable(const std::string& name, const Network& network, const FitData& data, int64_t outputs) {
  at::Tensor output;
  try {
    output = VerifiedObserver(network, data.training.inputs()).sample().outputs();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("--network {}: {}", name, error.what()));
  }
  if (output.dim() == 2 && output.size(1) == outputs) return;
  const std::string what = data.images ? fmt::format("images of shape [{}]", fmt::join(data.input_shape(), ", "))
                                       : counted(data.features(), "feature") + " each";
  throw Error(ErrorKind::usage,
              fmt::format("--network {}: it gives outputs of shape [{}] for {} ({}), but [N, {}] is needed "
                          "for this target",
                          name, fmt::join(output.sizes(), ", "), counted(output.size(0), "example"), what, outputs));
}

/// Refused before its memory is taken: weights, gradients and Adam's two moments must have room.
Network make_architecture_that_fits(const FitFlags& flags, const std::string& name, const FitData& data,
                                    int64_t outputs, uint64_t seed) {
  const at::ScalarType dtype = scalar_type_of(flags.common.dtype);
  const int64_t memory = flags.common.memory > 0 ? flags.common.memory : default_memory_budget();
  const ParameterLimit limit(memory / static_cast<int64_t>(4 * at::elementSize(dtype)));
  try {
    return make_architecture(name, data.input_shape(), outputs, dtype, seed);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    throw Error(ErrorKind::usage, fmt::format("--network {}: its weights, their gradients and what Adam keeps of them "
                                              "need more than {}; choose a smaller network, or give more --memory",
                                              name, human_bytes(memory)));
  }
}

/// Weights from the stream of (seed, candidate, restart); those of a TorchScript file are as they were saved.
Network make_network(const FitFlags& flags, const FitData& data, size_t candidate, uint64_t restart, int64_t outputs) {
  const std::string& name = flags.networks[candidate];
  const uint64_t seed = stream_seed({flags.common.seed, candidate, restart, kWeightStream});
  Network network = is_torchscript(name) ? load_torchscript(name, scalar_type_of(flags.common.dtype))
                                         : make_architecture_that_fits(flags, name, data, outputs, seed);
  if (data.images) network = scale_images(network, *data.images);
  return network;
}

/// The start of the hyperparameters, for standardised targets.
Hyperparameters starting_values(const FitFlags& flags, const FitData& data, const Likelihood& likelihood,
                                const Prior& prior, int64_t outputs) {
  Hyperparameters values = default_likelihood_hyperparameters(likelihood, outputs);
  values.log_prior_precision = log_precisions_of(at::tensor(flags.prior_precision, at::kDouble), flags.prior, prior);
  if (values.log_noise.numel() == 0) return values;
  const at::Tensor noise = at::tensor(flags.noise, at::kDouble);
  if (noise.numel() != 1 && noise.numel() != data.outputs())
    throw Error(ErrorKind::usage, fmt::format("--noise: {} values came for {} targets; give one for all, or one each",
                                              noise.numel(), data.outputs()));
  values.log_noise = (noise / target_scales(data.encoding)).log();
  return values;
}

}  // namespace

bool is_torchscript(const std::string& network) {
  std::error_code ignored;  // a specification may be longer than the name of a file
  return std::filesystem::path(network).extension() == ".pt" || std::filesystem::exists(network, ignored);
}

void check_networks(const std::vector<std::string>& networks) {
  const std::set<std::string> distinct(networks.begin(), networks.end());
  if (distinct.size() != networks.size())
    throw Error(ErrorKind::usage, "--network: a network is given twice; use --restarts for several trainings of one");
  for (const std::string& name : networks)
    if (!is_torchscript(name)) check_architecture(name);
}

std::vector<Candidate> make_candidates(const FitFlags& flags, const FitData& data, const Likelihood& likelihood) {
  std::vector<Candidate> candidates;
  const int64_t outputs = std::holds_alternative<Bernoulli>(likelihood) ? 1 : data.outputs();
  for (size_t index = 0; index < flags.networks.size(); ++index) {
    Candidate candidate;
    candidate.network = flags.networks[index];
    candidate.make = [flags, &data, likelihood, index, outputs](uint64_t restart) {
      const Network network = make_network(flags, data, index, restart, outputs);
      const Prior prior = prior_of(flags.prior, network.layout());
      return Model{network, likelihood, prior, starting_values(flags, data, likelihood, prior, outputs)};
    };
    const Network network = candidate.make(0).network;
    if (is_torchscript(candidate.network)) expect_usable(candidate.network, network, data, outputs);
    candidate.parameters = network.layout().total();
    candidate.cost = data.images ? count_multiply_adds(network, data.training.inputs().narrow(0, 0, 1))
                                 : static_cast<double>(candidate.parameters);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace ockham::app
