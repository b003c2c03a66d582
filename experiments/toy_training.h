// One training of one network on a toy problem, and what the tables and figures say about it.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/experiment.h"
#include "experiments/toy_data.h"
#include "ockham/train/train_online.h"

namespace ockham::paper {

enum class ToyPrior { scalar, layerwise };

struct ToyNetwork {
  std::string spec;
  uint64_t seed = 0;
  ToyPrior prior = ToyPrior::layerwise;
  double precision = 1;  // δ at the start; σ and T start at 1
};

/// The paper's regression settings: Adam with step size 0.01 on weights and hyperparameters, F = 1, K = 1, B = 0, full
/// batch, full GGN.
OnlineOptions paper_settings(int64_t epochs);

/// The same in the words of a cell's settings: all that its numbers depend on beside data and network.
Json describe(const OnlineOptions& options);
Json describe(const ToyNetwork& network);

struct ToyRun {
  Model model;  // with the state that `train_online` restored
  OnlineResult result;
};

/// Throws Error(numerical) when no state was evaluated.
ToyRun train_toy(const CellContext& context, const ToyProblem& problem, const ToyNetwork& network,
                 const OnlineOptions& options);

/// Of the restored state: log_evidence, last_log_evidence (of the last pass, whether it was the best or not), precision
/// (one for each group) and its names, noise (σ) or temperature (T), gradient_norm, N, parameters, failure.
Json state_of(const ToyRun& run, const ToyProblem& problem);

/// By pass, at most 250 of them: epoch, log_evidence, precision (a list for each group), noise or temperature.
Json trace_of(const OnlineResult& result);

/// A number of a cell's result; NaN when it is missing or was not finite.
double number(const Json& result, const std::string& name);
std::vector<double> numbers(const Json& values);
/// Six digits, so that kept files stay short.
double rounded(double value);

/// Cells that differ in their seeds are called ".../data=0/net=1".
struct ToySeeds {
  uint64_t first = 0;
  int64_t count = 3;
  std::vector<uint64_t> all() const;
};
ToySeeds toy_seeds(const Settings& settings);

/// None when the cell has no result.
const Json* find_result(const Results& results, const std::string& name);

}  // namespace ockham::paper
