// TorchScript: the evidence of a network from a file, such as Python's torch.jit.save writes, then online training of
// it. Run with the path of your own file (one input column), or without one: a small file is made first.
#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "ockham/ockham.h"

namespace {

// In Python: torch.jit.script(Net()).save(path), with the same forward.
void save_example(const std::string& path) {
  auto stream = ockham::random_stream({1});
  torch::jit::Module net("Net");
  const auto add = [&](const char* name, at::IntArrayRef shape) {
    net.register_parameter(name, at::randn(shape, stream, at::kFloat).div_(2).requires_grad_(), /*is_buffer=*/false);
  };
  add("hidden_weight", {20, 1});
  add("hidden_bias", {20});
  add("output_weight", {1, 20});
  add("output_bias", {1});
  net.define(R"(
def forward(self, x):
    hidden = torch.tanh(torch.linear(x, self.hidden_weight, self.hidden_bias))
    return torch.linear(hidden, self.output_weight, self.output_bias)
)");
  net.save(path);
}

double log_evidence(const ockham::Model& model, const ockham::Dataset& data, const ockham::LaplaceOptions& options) {
  return ockham::evidence(ockham::fit_laplace(model, data, options), model.hyperparameters).value;
}

}  // namespace

int main(int arguments, char** argv) {
  ockham::restart_with_tuned_environment(argv);
  ockham::set_threads(ockham::available_cpus());
  ockham::keep_freed_memory();

  const auto made = std::filesystem::temp_directory_path() / ("ockham_example_" + std::to_string(::getpid()) + ".pt");
  const std::string path = arguments > 1 ? argv[1] : made.string();
  if (arguments == 1) save_example(path);
  try {
    const ockham::Network network = ockham::load_torchscript(path, at::kDouble);
    if (arguments == 1) std::filesystem::remove(made);
    std::printf("%s: %ld weights\n", path.c_str(), static_cast<long>(network.layout().total()));
    for (size_t i = 0; i < network.layout().count(); ++i) {
      std::printf("  %-16s %6ld\n", network.layout()[i].name.c_str(), static_cast<long>(network.layout()[i].size));
    }

    const ockham::CsvTable table = ockham::make_toy_curve(/*seed=*/0);
    const ockham::TableEncoding encoding = ockham::learn_encoding(table, {});
    const ockham::Dataset data(ockham::encode_inputs(encoding, table), ockham::encode_targets(encoding, table));
    ockham::Model model{network, ockham::Gaussian{}, ockham::Prior::layerwise(network.layout()),
                        ockham::default_likelihood_hyperparameters(ockham::Gaussian{}, 1)};
    model.hyperparameters.log_prior_precision = at::zeros({model.prior.size()}, at::kDouble);

    ockham::OnlineOptions options;
    options.epochs = 600;
    options.frequency = 5;
    options.optimiser.learning_rate = 1e-2;
    options.hyper.steps = 5;
    options.hyper.step_size = 2e-2;
    options.laplace.curvature.structure = ockham::Structure::kronecker;
    options.laplace.curvature.batch_size = 1000;

    const double before = log_evidence(model, data, options.laplace);
    std::printf("log evidence of the file as it is:    %10.2f\n", before);
    const ockham::OnlineResult result = ockham::train_online(model, data, options);
    if (!result.failure.empty()) throw ockham::Error(ockham::ErrorKind::numerical, result.failure);
    model.hyperparameters = result.best.hyperparameters;  // the network has its weights already
    const double after = log_evidence(model, data, options.laplace);
    std::printf("after online training (epoch %4ld):    %10.2f, noise %.3f\n", static_cast<long>(result.best.epoch),
                after, std::exp(model.hyperparameters.log_noise.item<double>()) * encoding.targets[0].sd);
    return after > before ? 0 : 1;
  } catch (const ockham::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return ockham::exit_code(error.kind());
  }
}
