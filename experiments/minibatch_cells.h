// How batches change the optimum of the evidence: the cells of the experiment `minibatch`.
#pragma once

#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace ockham::paper {

/// A batch of the data by its share of them.
struct BatchSize {
  std::string name;   // in cells: "half", "half-shared"
  std::string title;  // in tables: "N/2", "N/2, half shared"
  int64_t parts = 1;  // of the data; 0: a batch of 32 examples
  double shared = 0;  // share of its examples that all batches have
};

/// N, N/2, N/4, N/8 and 32 examples, all but the first also with half of them shared, and N/2 with more.
const std::vector<BatchSize>& batch_sizes();

const std::vector<std::string>& minibatch_sets();  // energy, boston

/// `SET/fixed/split-N`: a network trained with the evidence of all data (full GGN), and at its weights the optimal
/// hyperparameters of the bound for every batch size. Numbers by size, "noise half" and so on:
///   batches    how many
///   gap        nats between the evidence and the bound, at the optimal hyperparameters of the evidence
///   noise      optimal σ, relative to that of the evidence
///   precision  optimal δ, the geometric mean over the groups, relative to that of the evidence
///   farthest   the largest factor between a group's optimal δ and that of the evidence
///   effective  effective parameters Σ_b tr(H_b⁻¹ s B_b) at the optimum of the bound
///   lost       nats of evidence that the bound's optimum has less than the evidence's
///   nll        test NLL of the linearised predictive with these hyperparameters
///   slope      largest entry of the gradient where the optimiser ended
/// `SET/online-half/split-N`: the whole training with batches of that size; at its end evidence of all data, bound
/// (both per example), noise, precision, nll, seconds_curvature.
std::vector<Cell> minibatch_cells(const Settings& settings);

}  // namespace ockham::paper
