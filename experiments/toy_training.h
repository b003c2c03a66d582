// One training of one network on a toy problem, and what the tables say about it.
#pragma once

#include <cstdint>
#include <string>

#include "ockham/train/train_online.h"
#include "toy_data.h"

enum class ToyPrior { scalar, layerwise };

struct ToyNetwork {
  std::string spec;
  uint64_t seed = 0;
  ToyPrior prior = ToyPrior::layerwise;
  double precision = 1;  // δ at the start; σ and T start at 1
};

/// All of the state that `train_online` restores, but for the last evidence.
struct ToyScores {
  double log_evidence = 0;
  double last_log_evidence = 0;                  // of the last pass, whether it was the best or not
  double precision = 0;                          // δ; of a layerwise prior the first one
  double noise = 0;                              // σ; 0 for classes
  double test_nll = 0;                           // MAP, per example
  double train_accuracy = 0, test_accuracy = 0;  // 0 for regression
  double gradient_norm = 0;                      // of the MAP objective
  std::string failure;
};

/// The paper's regression settings: Adam with step size 0.01 on weights and hyperparameters, F = 1, K = 1, B = 0, full
/// batch, full GGN.
ockham::OnlineOptions paper_settings(int64_t epochs);

ToyScores train_toy(const ToyProblem& problem, const ToyNetwork& toy, const ockham::OnlineOptions& options);
