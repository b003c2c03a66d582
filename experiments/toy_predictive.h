// What a toy network predicts: scores on test data, bands over the line, maps over the plane.
#pragma once

#include "experiments/toy_training.h"

namespace ockham::paper {

/// Whether a cell keeps what a figure may show: bands and maps are long.
enum class Picture { left_out, kept };

/// Scores per example: train_nll, test_nll (MAP predictive), test_nll_bayes (linearised predictive), train_rmse,
/// test_rmse, and epistemic_gap and epistemic_data, the mean standard deviations of f over the gap and over the rest of
/// the data. For a picture also "bands" over x from a little before to a little after the training data: x, mean,
/// epistemic (standard deviation of f), noise (σ), and the training points point_x, point_y.
Json regression_scores(const ToyRun& run, const ToyProblem& problem, const OnlineOptions& options, Picture picture);

struct ClassificationOptions {
  int64_t samples = 1000;  // of f, for the linearised predictive
  int64_t map_size = 61;   // places in x and in y
  uint64_t seed = 0;       // of the samples
  Picture picture = Picture::left_out;
};

/// Scores per example: train_accuracy, test_accuracy, train_nll, test_nll (MAP predictive), test_accuracy_bayes,
/// test_nll_bayes (linearised predictive). confidence_near and confidence_far (`_bayes` of the linearised predictive)
/// are the mean largest probabilities of places in the plane nearer than half a unit to a training point, and further
/// than one. For a picture also "maps" of p(class 1) over the plane: x, y, map and bayes (row by row), and the training
/// points point_x, point_y, point_class.
Json classification_scores(const ToyRun& run, const ToyProblem& problem, const OnlineOptions& options,
                           const ClassificationOptions& more);

}  // namespace ockham::paper
