// Online training: a network is trained on a noisy curve while its noise and its prior precisions, one per tensor of
// weights, climb the evidence (the paper's Algorithm 1). Prints how they move, with no validation data anywhere.
#include <ATen/ATen.h>

#include <cmath>
#include <cstdio>

#include "ockham/network/architectures.h"
#include "ockham/ockham.h"

namespace {

constexpr double kTrueNoise = 0.3;

// The paper's settings for its illustration: a curvature pass and one step after every epoch.
ockham::OnlineOptions online_options() {
  ockham::OnlineOptions options;
  options.epochs = 1000;
  options.frequency = 1;  // F
  options.burn_in = 0;    // B
  options.optimiser.learning_rate = 1e-2;
  options.hyper.steps = 1;         // K
  options.hyper.step_size = 1e-2;  // γ
  options.laplace.curvature.structure = ockham::Structure::full;
  options.laplace.curvature.batch_size = 1000;
  return options;
}

}  // namespace

int main(int, char** argv) {
  ockham::restart_with_tuned_environment(argv);
  ockham::set_threads(ockham::available_cpus());
  ockham::keep_freed_memory();

  ockham::ToyCurveOptions curve;
  curve.noise = kTrueNoise;
  const ockham::CsvTable table = ockham::make_toy_curve(/*seed=*/0, curve);
  const ockham::TableEncoding encoding = ockham::learn_encoding(table, {});
  const ockham::Dataset data(ockham::encode_inputs(encoding, table), ockham::encode_targets(encoding, table));
  const double scale = encoding.targets[0].sd;  // the network sees standardised targets

  const ockham::Likelihood likelihood = ockham::Gaussian{};
  const ockham::Network network = ockham::make_architecture("mlp:20,act=tanh", {1}, 1, at::kDouble, /*seed=*/0);
  const ockham::Prior prior = ockham::Prior::layerwise(network.layout());
  ockham::Hyperparameters start = ockham::default_likelihood_hyperparameters(likelihood, 1);  // σ = 1
  start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);                         // δ = 1

  std::printf("%ld points, %ld weights; prior precisions of:", static_cast<long>(data.size()),
              static_cast<long>(network.layout().total()));
  for (const std::string& name : prior.names()) std::printf(" %s", name.c_str());
  std::printf("\n%6s %13s %7s  %s\n", "epoch", "log evidence", "noise", "prior precisions");
  const auto print = [&](int64_t epoch, double evidence, const ockham::Hyperparameters& hyperparameters) {
    std::printf("%6ld %13.2f %7.3f ", static_cast<long>(epoch),
                ockham::log_density_in_target_units(encoding, evidence, data.size()),
                std::exp(hyperparameters.log_noise.item<double>()) * scale);
    for (int64_t group = 0; group < prior.size(); ++group) {
      std::printf(" %8.3g", std::exp(hyperparameters.log_prior_precision[group].item<double>()));
    }
    std::printf("\n");
  };
  const ockham::OnlineResult result = ockham::train_online(
      {network, likelihood, prior, start}, data, online_options(), [&](const ockham::OnlineProgress& progress) {
        if (progress.pass != nullptr && (progress.epoch == 1 || progress.epoch % 100 == 0)) {
          print(progress.epoch, progress.pass->evidences.back(), progress.pass->hyperparameters);
        }
        return true;  // false would end the training here
      });
  if (!result.failure.empty()) {
    std::printf("the training failed: %s\n", result.failure.c_str());
    return 1;
  }
  std::printf("\nThe state of the highest evidence is restored:\n");
  print(result.best.epoch, result.best.log_evidence, result.best.hyperparameters);
  std::printf("The gradient of the log joint has norm %.3g there: the smaller, the nearer to a mode.\n",
              result.gradient_norm);
  const double noise = std::exp(result.best.hyperparameters.log_noise.item<double>()) * scale;
  std::printf("The data were drawn with noise %.3f; the evidence found %.3f.\n", kTrueNoise, noise);
  return std::abs(noise - kTrueNoise) < 0.15 ? 0 : 1;
}
