// Choosing a depth: trains networks of no, one and two hidden layers on a noisy curve by the paper's online algorithm,
// which learns the noise and the prior precisions along the way, and ranks them by evidence. No validation data
// anywhere.
#include <ATen/ATen.h>

#include <cmath>
#include <cstdio>

#include "ockham/network/architectures.h"
#include "ockham/ockham.h"

namespace {

constexpr int kRestarts = 2;

ockham::OnlineOptions online_options() {
  ockham::OnlineOptions options;
  options.epochs = 1000;
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

  const ockham::CsvTable table = ockham::make_toy_curve(/*seed=*/0);
  const ockham::TableEncoding encoding = ockham::learn_encoding(table, {});
  const ockham::Dataset data(ockham::encode_inputs(encoding, table), ockham::encode_targets(encoding, table));
  std::printf("%ld points of a noisy curve\n\n%-20s %10s %14s %8s %14s\n", static_cast<long>(data.size()), "network",
              "parameters", "log evidence", "noise", "gradient norm");

  std::vector<ockham::CandidateScore> scores;
  for (const char* spec : {"linear", "mlp:20,act=tanh", "mlp:20-20,act=tanh"}) {
    ockham::CandidateScore score{spec, "full ggn gaussian", {}, {}};
    for (uint64_t restart = 0; restart < kRestarts; ++restart) {
      const ockham::Network network = ockham::make_architecture(spec, {data.inputs().size(1)}, 1, at::kDouble, restart);
      const ockham::Prior prior = ockham::Prior::layerwise(network.layout());
      ockham::Hyperparameters start = ockham::default_likelihood_hyperparameters(ockham::Gaussian{}, 1);
      start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
      ockham::OnlineOptions options = online_options();
      options.restart = restart;
      const ockham::OnlineResult result =
          ockham::train_online({network, ockham::Gaussian{}, prior, start}, data, options);
      if (!result.failure.empty()) {
        score.failure = result.failure;
        continue;
      }
      // In the target's own units: the standardisation of y is a change of variables.
      const double evidence = ockham::log_density_in_target_units(encoding, result.best.log_evidence, data.size());
      const double noise = std::exp(result.best.hyperparameters.log_noise.item<double>()) * encoding.targets[0].sd;
      score.log_evidences.push_back(evidence);
      std::printf("%-20s %10ld %14.2f %8.3f %14.3f\n", spec, static_cast<long>(network.layout().total()), evidence,
                  noise, result.gradient_norm);
    }
    scores.push_back(score);
  }

  const ockham::Ranking ranking = ockham::rank_by_evidence(scores);
  std::printf("\nThe data prefer %s: mean log evidence %.2f ± %.2f, probability %.3f\n",
              scores[ranking.order[0].candidate].name.c_str(), ranking.order[0].mean, ranking.order[0].spread,
              ranking.order[0].probability);
  for (const std::string& warning : ranking.warnings) std::printf("%s\n", warning.c_str());
  return 0;
}
