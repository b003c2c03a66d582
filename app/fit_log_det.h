// ockham fit --log-det slq: what it changes in the plan of a fit, and what is said of its numbers.
#pragma once

#include <string>

#include "app/fit_results.h"

namespace ockham::app {

/// What the products of an estimated log determinant cost a pass, in training epochs; 0 for an exact one.
double slq_epochs(const LogDetFlags& flags);

/// Steps on the hyperparameters after a pass, which need no data: as many in a training as with passes every `usual`
/// epochs, but no more than a hundred at once.
int64_t slq_hyper_steps(int64_t automatic, int64_t usual, int64_t frequency);

/// "The numbers are estimates, and predictions are those of another structure."
std::string slq_words(const LogDetFlags& flags);

/// Whether the error bars leave it open which of the two has more evidence: the sentence that says so, or nothing.
std::string estimate_doubt(const CandidateResult& first, const CandidateResult& second);

}  // namespace ockham::app
