// What the candidates reached, in the target's own units, and their ranking.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/fit_plan.h"
#include "ockham/evidence/clipped_spectrum.h"
#include "ockham/evidence/evidence.h"
#include "ockham/evidence/hyper_bounds.h"
#include "ockham/predict/scores.h"
#include "ockham/predict/trained_model.h"
#include "ockham/select/rank.h"

namespace ockham::app {

/// A candidate by the restart that is kept.
struct CandidateResult {
  std::string network;
  int64_t parameters = 0;
  RankedCandidate ranked;             // when it has an evidence
  std::vector<double> log_evidences;  // of its restarts
  std::string failure;                // why it has none, or why a restart ended early
  bool has_evidence = false;
  // Of the kept restart:
  double log_evidence = 0, log_likelihood = 0, log_prior = 0, log_det = 0;
  std::optional<LogDetError> log_det_error;  // with --log-det slq
  double correction = 0;  // ½ gᵀH⁻¹g: how far below the mode θ is, by the quadratic model; not part of the evidence.
                          // NaN: there was no time for it
  std::vector<double> noise;  // empty without one
  std::optional<double> temperature;
  std::vector<std::pair<std::string, double>> prior_precision;
  std::vector<ReachedBound> at_bounds;  // hyperparameters that ran as far as they may; those of the noise in units of
                                        // the scaled targets
  ClippedSpectrum clipped;              // zero when there was no time for the pass
  int64_t epochs = 0, best_epoch = 0;
  int64_t eliminated_at = 0;
  double gradient_norm = 0;
  double seconds = 0, seconds_training = 0, seconds_curvature = 0;  // over all restarts
  PredictiveScores train;
  std::optional<PredictiveScores> test;
  std::vector<OnlinePass> passes;
};

/// Whether the time limit of the run is over.
using TimeIsOver = std::function<bool()>;

struct FitResults {
  std::vector<CandidateResult> candidates;  // best first, those without an evidence last
  std::optional<TrainedModel> selected;     // of the first
  bool in_time = true;                      // else scores are missing, and the warnings say so
  std::vector<std::string> warnings;
};

/// Ranks and assesses. Test data are looked at here only, after the ranking. When the time is over, only what cannot be
/// left out is still done: the curvature pass for the posterior of the selected network, and the scores of the networks
/// alone. Throws Error(numerical) when no candidate has an evidence.
FitResults assess_trainings(const FitPlan& plan, const FitData& data, std::vector<CandidateTraining> trainings,
                            const TimeIsOver& time_is_over, ProgressLine& line);

/// Spearman's ρ between log evidence and test accuracy over the candidates that have both; absent for fewer than four,
/// or when one of them is the same everywhere.
std::optional<double> evidence_accuracy_correlation(const FitResults& results);

/// Scores on the training and the test data, with a progress line that begins with `what`.
struct FitScores {
  PredictiveScores train;
  std::optional<PredictiveScores> test;
};
FitScores score_fit(const FitPlan& plan, const FitData& data, const TrainedModel& trained,
                    const TimeIsOver& time_is_over, ProgressLine& line, const std::string& what);

/// A trained model with its posterior: one curvature pass over the training data.
TrainedModel with_posterior(const FitPlan& plan, const FitData& data, const std::string& network, Model model,
                            const std::function<void(int64_t examples_done)>& progress);

}  // namespace ockham::app
