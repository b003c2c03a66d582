// Private to train/: K steps on the hyperparameters at fixed weights, and the evidence of the state they lead to.
#pragma once

#include <string>
#include <vector>

#include "ockham/train/train_online.h"

namespace ockham {

struct EvidencePass {
  HyperResult steps;      // its `best` is the state of `best_evidence`, but for an estimate
  bool estimate = false;  // `best_evidence` is a mean of unbiased estimates of a bound, each from one batch
  std::vector<std::string> messages;
};

/// One fit of all data, and the steps on it: the paper's way.
EvidencePass pass_over_data(const Model& model, const Dataset& data, const OnlineOptions& options, HyperState& state);

/// Before anything is computed: throws Error(usage) when the options have no bound (see `check_batches`), ask for the
/// correction term, or have batches that are no batches.
void check_batch_passes(const Model& model, const Dataset& data, const OnlineOptions& options);

struct BatchPass {
  uint64_t epoch = 0;          // a key of this pass's partition
  bool over_partition = true;  // also the bound over a whole partition, at the end: one pass over the data
};

/// Step k climbs the estimate of the bound from batch k mod B of a partition of its own; the state that counts has the
/// bound over the one partition that all epochs, restarts and candidates have in common.
EvidencePass pass_over_batches(const Model& model, const Dataset& data, const OnlineOptions& options, HyperState& state,
                               const BatchPass& pass);

}  // namespace ockham
