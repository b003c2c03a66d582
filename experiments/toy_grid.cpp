// fig:toy_regression_gridsearch: a scalar prior, so that the grid has one dimension.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "toy_figures.h"
#include "toy_training.h"

namespace {

constexpr double kGridStep = 0.25;  // decades; the top is so flat that half a decade does not find its middle
constexpr double kNear = 0.5;       // decades between the grid's best and an online run that arrives

struct GridSettings {
  const char* name;
  ockham::OnlineOptions online;
};

ToyNetwork deep_network(int seed, double precision) {
  ToyNetwork network;
  network.spec = "mlp:50-50-50,act=tanh";
  network.seed = seed;
  network.prior = ToyPrior::scalar;
  network.precision = precision;
  return network;
}

// The same training of the weights; the noise, the only hyperparameter left, is brought to its optimum by few passes
// with many steps instead of many passes with few.
ockham::OnlineOptions fixed_precision(const ockham::OnlineOptions& online) {
  ockham::OnlineOptions options = online;
  options.hyper.learn_prior = false;
  options.frequency = 20;
  options.hyper.steps = 20;
  options.hyper.step_size = 0.05;
  return options;
}

struct GridBest {
  double decade = 0, log_evidence = -INFINITY;
};

GridBest search_grid(const ToyProblem& problem, int seed, const ockham::OnlineOptions& options) {
  GridBest best;
  for (double decade = -3; decade <= 2; decade += kGridStep) {
    const ToyScores scores = train_toy(problem, deep_network(seed, std::pow(10, decade)), options);
    std::printf("  fixed  %8.3g              evidence %9.2f  sigma %.3f  test nll %.3f %s\n", scores.precision,
                scores.log_evidence, scores.noise, scores.test_nll, scores.failure.c_str());
    std::fflush(stdout);
    if (scores.log_evidence > best.log_evidence) best = {decade, scores.log_evidence};
  }
  return best;
}

bool holds_with(const GridSettings& settings, const ToyArguments& arguments) {
  std::printf("\n%s\n", settings.name);
  int arrived = 0, runs = 0;
  for (int seed = arguments.first_seed; seed < arguments.first_seed + arguments.seeds; ++seed) {
    const ToyProblem problem = draw_snelson(arguments.data, seed);
    std::printf("data seed %d, network seed %d, N = %ld\n", seed, seed, static_cast<long>(problem.train.size()));
    ockham::OnlineOptions online = settings.online;
    online.restart = seed;
    online.best_after = online.epochs;  // the figure compares the states after training
    const GridBest best = search_grid(problem, seed, fixed_precision(online));
    for (const double start : {1e-3, 1.0, 1e2}) {
      const ToyScores scores = train_toy(problem, deep_network(seed, start), online);
      const bool arrives = std::abs(std::log10(scores.precision) - best.decade) <= kNear;
      std::printf(
          "  online %8.3g -> %8.3g  evidence %9.2f  sigma %.3f  test nll %.3f  %+.2f to the grid's best, %s %s\n",
          start, scores.precision, scores.log_evidence, scores.noise, scores.test_nll,
          scores.log_evidence - best.log_evidence, arrives ? "arrives" : "does not arrive", scores.failure.c_str());
      std::fflush(stdout);
      arrived += arrives, ++runs;
    }
    std::printf("  the grid is best at %.3g with %.2f\n", std::pow(10, best.decade), best.log_evidence);
  }
  std::printf("%d of %d online runs arrive\n", arrived, runs);
  return arrived == runs;
}

}  // namespace

void compare_with_grid(const ToyArguments& arguments) {
  std::printf(
      "Claim: the online algorithm, from prior precisions 1e-3, 1 and 1e2, arrives where a grid over fixed precisions\n"
      "has its best evidence. Modified Snelson data, raw units, mlp:50-50-50 tanh, scalar prior, full GGN, Adam 0.01;\n"
      "all numbers after the last epoch. A run arrives when it ends within half a decade, two steps of the grid, of "
      "the\n"
      "best fixed precision; it holds when all runs do. Fixed: noise learned with F = 20, K = 20, step 0.05.\n");
  const GridSettings paper{"paper's settings: 1000 epochs, F = 1, K = 1, step 0.01", paper_settings(1000)};
  GridSettings faster{"faster hyperparameters: 1500 epochs, F = 5, K = 20, step 0.1", paper_settings(1500)};
  faster.online.frequency = 5;
  faster.online.hyper.steps = 20;
  faster.online.hyper.step_size = 0.1;
  const bool by_paper = holds_with(paper, arguments), by_faster = holds_with(faster, arguments);
  std::printf("\npaper's settings: %s; faster hyperparameters: %s\n", by_paper ? "holds" : "does not hold",
              by_faster ? "holds" : "does not hold");
  std::printf("%s\n", by_paper ? "holds" : by_faster ? "holds (faster hyperparameters only)" : "does not hold");
}
