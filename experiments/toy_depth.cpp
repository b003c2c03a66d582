// fig:toy_model_selection. By activation, since the paper does not name its own.
#include <cstdio>
#include <string>

#include "toy_figures.h"
#include "toy_training.h"

namespace {

bool holds_with(const std::string& activation, const ToyArguments& arguments) {
  std::printf("\n%s, raw units, 1000 epochs, Adam 0.01, F = 1, K = 1, step 0.01, full GGN, layerwise prior\n",
              activation.c_str());
  std::printf("%4s %4s %4s | %10s %10s %6s %8s | %10s %10s %6s %8s |\n", "data", "net", "N", "mlp:50", "last", "sigma",
              "test nll", "50-50-50", "last", "sigma", "test nll");
  bool holds = true;
  int wins = 0, wins_last = 0;
  for (int data_seed = arguments.first_seed; data_seed < arguments.first_seed + arguments.seeds; ++data_seed) {
    const ToyProblem problem = draw_snelson(arguments.data, data_seed);
    double shallow_sum = 0, deep_sum = 0;
    for (int network_seed = arguments.first_seed; network_seed < arguments.first_seed + arguments.seeds;
         ++network_seed) {
      ockham::OnlineOptions options = paper_settings(1000);
      options.restart = network_seed;
      const auto train = [&](const std::string& widths) {
        ToyNetwork network;
        network.spec = "mlp:" + widths + ",act=" + activation;
        network.seed = network_seed;
        return train_toy(problem, network, options);
      };
      const ToyScores shallow = train("50"), deep = train("50-50-50");
      shallow_sum += shallow.log_evidence, deep_sum += deep.log_evidence;
      wins += deep.log_evidence > shallow.log_evidence;
      wins_last += deep.last_log_evidence > shallow.last_log_evidence;
      std::printf("%4d %4d %4ld | %10.2f %10.2f %6.3f %8.3f | %10.2f %10.2f %6.3f %8.3f | %s%s\n", data_seed,
                  network_seed, static_cast<long>(problem.train.size()), shallow.log_evidence,
                  shallow.last_log_evidence, shallow.noise, shallow.test_nll, deep.log_evidence, deep.last_log_evidence,
                  deep.noise, deep.test_nll, shallow.failure.c_str(), deep.failure.c_str());
      std::fflush(stdout);
    }
    const double difference = (deep_sum - shallow_sum) / arguments.seeds;
    std::printf("%4d mean: %.2f against %.2f, the deeper one is %s by %.2f\n", data_seed, deep_sum / arguments.seeds,
                shallow_sum / arguments.seeds, difference > 0 ? "higher" : "lower",
                difference > 0 ? difference : -difference);
    if (!(difference > 0)) holds = false;
  }
  std::printf("%s: deeper higher in %d of %d runs (by the last state: %d)\n", activation.c_str(), wins,
              arguments.seeds * arguments.seeds, wins_last);
  return holds;
}

}  // namespace

void compare_depths(const ToyArguments& arguments) {
  std::printf(
      "Claim: on the modified Snelson data a network of 3 hidden layers of 50 has a higher evidence than one of 1.\n"
      "Evidence of the restored state (the best of the run) and of the last one; sigma and test nll of the restored.\n"
      "It holds when, for every data seed, the mean over the network seeds is higher.\n");
  const bool tanh = holds_with("tanh", arguments), relu = holds_with("relu", arguments);
  std::printf("\ntanh: %s; relu: %s; the paper does not say which it used.\n", tanh ? "holds" : "does not hold",
              relu ? "holds" : "does not hold");
  std::printf("%s\n", tanh || relu ? (tanh && relu ? "holds"
                                      : tanh       ? "holds (tanh only)"
                                                   : "holds (relu only)")
                                   : "does not hold");
}
