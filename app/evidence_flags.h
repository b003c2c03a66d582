// ockham evidence: its flags.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/log_det_flags.h"
#include "app/minibatch_flags.h"
#include "app/rank_flags.h"

namespace ockham {
class Communicator;
}

namespace ockham::app {

struct EvidenceFlags {
  CommonFlags common;
  std::string network, inputs, targets, test_inputs;                           // files
  std::string from_run;                                                        // a run directory instead
  bool structure_given = false, curvature_given = false, dtype_given = false;  // else those of the run
  LikelihoodChoice likelihood = LikelihoodChoice::unset;
  StructureChoice structure = StructureChoice::kron;
  CurvatureChoice curvature = CurvatureChoice::ggn;
  PriorChoice prior = PriorChoice::scalar;
  /// --group NAME=parameter,parameter: makes the prior one of named groups.
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  std::vector<double> prior_precision = {1};  // one for all, or one per group
  std::string prior_precision_file;           // an .npy file instead, for the diagonal prior of a large network
  std::vector<double> noise = {1};            // standard deviation: one, or one per output
  double temperature = 1;
  double likelihood_weight = 1;
  LogDetFlags log_det;
  bool log_det_given = false;  // else that of the run
  KroneckerChoice kronecker = KroneckerChoice::expand;
  bool damping = false;
  bool correction = false;
  bool check = false;
  int64_t mc_samples = 1;
  double ggn_tolerance = 0;
  bool kronecker_given = false, ggn_tolerance_given = false;
  int64_t batch_size = 128;
  MinibatchFlags minibatch;
  RankFlags ranks;
};

void declare_evidence(CLI::App& app, EvidenceFlags& flags);

/// In the engine (evidence.cpp, and evidence_from_run.cpp for --from-run).
int run_evidence(const EvidenceFlags& flags);
int run_evidence_from_run(const EvidenceFlags& flags, Communicator& ranks);

}  // namespace ockham::app
