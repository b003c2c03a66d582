// What `ockham evidence` says: as JSON for programs, as a table for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/evidence_flags.h"
#include "app/messages.h"
#include "ockham/evidence/clipped_spectrum.h"
#include "ockham/evidence/self_check.h"

namespace ockham::app {

struct EvidencePredictive {
  at::Tensor f_mean, f_var;     // [n, C], [n, C, C]
  at::Tensor pred_var, probit;  // whichever the likelihood has
};

struct EvidenceReport {
  Evidence evidence;
  Hyperparameters hyperparameters;
  std::string likelihood;  // its word on the command line
  int64_t examples = 0, outputs = 0, parameters = 0;
  std::vector<std::string> groups;
  LogDetFlags log_det;  // how it was computed
  ClippedSpectrum clipped;
  std::vector<std::string> messages;
  double seconds = 0, seconds_curvature = 0, seconds_decompose = 0;
  std::optional<EvidencePredictive> predictive;
  std::vector<SelfCheck> checks;                       // of --check
  int64_t batches = 0, largest_batch = 0, shared = 0;  // of --evidence minibatch

  /// One batch of all examples has the evidence itself.
  bool is_bound() const { return batches > 1; }
};

/// The bound over a partition that is drawn by --seed, and what it was computed from.
void add_bound(const Model& model, const Dataset& data, const LaplaceOptions& options, const EvidenceFlags& flags,
               EvidenceReport& report);

/// The eigenvalues that were clipped, with a message when they are many; after the evidence.
void add_clipped(const LaplaceFit& fit, EvidenceReport& report, Messages& messages);

/// One JSON object; every double round-trips. Throws Error(numerical) rather than print what is not a number.
std::string evidence_json(const EvidenceReport& report, const EvidenceFlags& flags);
std::string evidence_table(const EvidenceReport& report, const EvidenceFlags& flags);

}  // namespace ockham::app
