// ockham fit --evidence minibatch: what it changes in the plan of a fit, and how its numbers are described.
#pragma once

#include <string>

#include "app/fit_plan.h"

namespace ockham::app {

/// The sizes of the flags, with what is `auto` chosen from the K columns of an example.
PartitionSizes batch_sizes(const MinibatchFlags& flags, int64_t columns);

/// Steps on the hyperparameters after a pass: no more than see a quarter of the batches, but at least ten.
int64_t minibatch_hyper_steps(int64_t automatic, int64_t examples, const PartitionSizes& sizes);

/// The trainings take the bound of the exact curvature instead of the evidence; predictions keep the structure of the
/// flags. Refuses batches that need more memory than there is. `plan.candidates` and `plan.options` are made.
void use_minibatch(FitPlan& plan, const FitData& data, Messages& messages);

/// Batches that a pass fits, on average: those of its steps, and all of them where the state counts.
double batches_a_pass(const OnlineOptions& options, int64_t examples);

/// What the evidences of this run are: "kron structure, ggn curvature, gaussian likelihood".
std::string evidence_words(const FitPlan& plan);

}  // namespace ockham::app
