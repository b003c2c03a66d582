// Uncertainty: what a network knows and what it does not. After online training on a curve with a gap in its inputs,
// the Laplace posterior gives each prediction a standard deviation in two parts: epistemic (the weights are not known),
// which grows in the gap and outside of the data, and noise, which is the same everywhere.
#include <ATen/ATen.h>

#include <cmath>
#include <cstdio>

#include "ockham/network/architectures.h"
#include "ockham/ockham.h"

namespace {

ockham::OnlineOptions online_options() {
  ockham::OnlineOptions options;
  options.epochs = 1000;
  options.frequency = 5;
  options.optimiser.learning_rate = 1e-2;
  options.hyper.steps = 5;
  options.hyper.step_size = 2e-2;
  options.laplace.curvature.structure = ockham::Structure::full;
  options.laplace.curvature.batch_size = 1000;
  return options;
}

}  // namespace

int main(int, char** argv) {
  ockham::restart_with_tuned_environment(argv);
  ockham::set_threads(ockham::available_cpus());
  ockham::keep_freed_memory();

  const ockham::ToyCurveOptions curve;  // no inputs between 1.5 and 2.4
  const ockham::CsvTable table = ockham::make_toy_curve(/*seed=*/0, curve);
  const ockham::TableEncoding encoding = ockham::learn_encoding(table, {});
  const ockham::Dataset data(ockham::encode_inputs(encoding, table), ockham::encode_targets(encoding, table));

  const ockham::Network network = ockham::make_architecture("mlp:20-20,act=tanh", {1}, 1, at::kDouble, /*seed=*/0);
  ockham::Model model{network, ockham::Gaussian{}, ockham::Prior::layerwise(network.layout()),
                      ockham::default_likelihood_hyperparameters(ockham::Gaussian{}, 1)};
  model.hyperparameters.log_prior_precision = at::zeros({model.prior.size()}, at::kDouble);
  const ockham::OnlineOptions options = online_options();
  const ockham::OnlineResult result = ockham::train_online(model, data, options);
  if (!result.failure.empty()) {
    std::printf("the training failed: %s\n", result.failure.c_str());
    return 1;
  }
  model.hyperparameters = result.best.hyperparameters;

  // The posterior at the trained weights, and its predictions: in closed form for regression.
  const ockham::LaplaceFit fit = ockham::fit_laplace(model, data, options.laplace);
  std::vector<std::vector<std::string>> places;
  for (int step = -2; step <= 16; ++step) places.push_back({std::to_string(step * 0.45)});
  const ockham::CsvTable points = ockham::make_table("points", {"x"}, places);
  const at::Tensor inputs = ockham::encode_inputs(encoding, points);
  const auto function = ockham::predict_function(model.network, fit, model.hyperparameters, inputs);
  const auto prediction = ockham::predict_regression(function, model.hyperparameters);

  const double mean = encoding.targets[0].mean, scale = encoding.targets[0].sd;  // back to the units of y
  const double noise = std::exp(model.hyperparameters.log_noise.item<double>()) * scale;
  std::printf("%6s %8s %8s %8s %13s %9s\n", "x", "truth", "mean", "sd", "sd epistemic", "sd noise");
  double known = 0, least_unknown = 1e9;
  for (int64_t n = 0; n < inputs.size(0); ++n) {
    const double x = std::stod(places[n][0]);
    const double total = std::sqrt(prediction.total[n].item<double>()) * scale;
    const double epistemic = std::sqrt(prediction.epistemic[n].item<double>()) * scale;
    const bool gap = x > curve.gap_begin && x < curve.gap_end, outside = x < 0 || x > 6;
    const bool middle = std::abs(x - (curve.gap_begin + curve.gap_end) / 2) < 0.2;
    if (!gap && !outside) known = std::max(known, total);
    if (middle || x < -0.5 || x > 6.5) least_unknown = std::min(least_unknown, total);
    std::printf("%6.2f %8.3f %8.3f %8.3f %13.3f %9.3f  %s\n", x, ockham::evaluate_toy_curve(x),
                prediction.mean[n].item<double>() * scale + mean, total, epistemic, noise,
                gap       ? "in the gap"
                : outside ? "outside of the data"
                          : "");
  }
  std::printf("\nThe largest sd where there are data is %.3f; in the middle of the gap and far outside it is %.3f\n",
              known, least_unknown);
  std::printf("at least. The noise was drawn with sd %.3f.\n", curve.noise);
  return least_unknown > known ? 0 : 1;
}
