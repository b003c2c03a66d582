// What `auto` means: candidates and settings of the online algorithm, from the size of the problem alone. A function of
// sizes, never of a clock: the same problem gets the same settings on every machine of as many threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/curvature/curvature.h"
#include "ockham/train/optimiser.h"

namespace ockham {

struct ProblemSize {
  int64_t examples = 0, features = 0;
  int64_t outputs = 1;
  int64_t root_columns = 1;  // K of the likelihood's curvature root: C, or C - 1 for classes
  bool classes = false;      // a classification
  int threads = 1;
};

/// `linear`, and multilayer perceptrons of one to three hidden layers in two widths with tanh: the Laplace
/// approximation likes smooth functions, and on most of the UCI tables both their evidence and their test likelihood
/// were above those of ReLUs (docs/results.md). Two shallow ones with ReLUs are among them for the tables where they
/// are not.
std::vector<std::string> automatic_networks();

struct AutomaticSettings {
  Structure structure = Structure::kronecker;
  int64_t epochs = 0;
  int64_t batch_size = 0;  // 0: all examples at once
  int64_t burn_in = 0, frequency = 1, hyper_steps = 1;
  double learning_rate = 0, hyper_step_size = 0;
  LearningRateSchedule schedule = LearningRateSchedule::cosine;
  double prior_precision = 1;
  double noise = 1;    // of standardised targets
  size_t workers = 1;  // trainings at once
  double seconds = 0;  // about how long all trainings take
  double budget = 0;   // seconds that they should take at most
};

/// `parameters` are the weights of each candidate's network; `trainings` of each are planned.
AutomaticSettings automatic_settings(const ProblemSize& problem, const std::vector<int64_t>& parameters,
                                     int64_t trainings);

/// Epochs between curvature passes, for a training of that many epochs.
int64_t automatic_frequency(int64_t epochs);

/// The same where a pass is dear: that of the settings, or so many that their epochs and passes, which take so many
/// seconds each in all trainings together, keep to the budget; five passes at least.
int64_t affordable_frequency(const AutomaticSettings& settings, double epoch_seconds, double pass_seconds);

/// Seconds that one epoch, with its share of a curvature pass, takes on one core; rough. Reads structure, batch size,
/// frequency and steps of the settings.
double estimated_epoch_seconds(const ProblemSize& problem, int64_t parameters, const AutomaticSettings& settings);

}  // namespace ockham
