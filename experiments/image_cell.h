// One training of a network on images as a cell of an experiment.
#pragma once

#include <string>

#include "experiments/experiment.h"
#include "experiments/image_training.h"

namespace ockham::paper {

/// The cell that runs `train_images`. Its cost counts multiplications, by `multiply_adds`.
Cell image_cell(const std::string& name, const ImageTraining& training, const Settings& settings);

/// A training that several experiments have, with the same name and settings, so that one --out computes it once:
/// `SCALE/SET/WORD/METHOD/seed-N`. CIFAR-10 has SVHN as other images where it is there; `augment` also sets the
/// likelihood's weight of 5 (not that of weight decay).
struct SharedTraining {
  std::string set, word, network;
  ImageMethod method = ImageMethod::kron;
  bool augment = false;
};
std::string start_of(const SharedTraining& shared);  // "SET/WORD/METHOD"
Cell shared_cell(const SharedTraining& shared, int64_t seed, const ImageScale& scale, const Settings& settings);

/// Multiplications with weights for one image of the set, about: for the order of the cells only.
double multiply_adds(const std::string& network, const std::string& set);

/// Trains and scores. Its numbers are of the state with the highest evidence after `best_after` (of the last state with
/// weight decay), test scores are of the MAP predictive:
///   accuracy, log_likelihood, ece, brier   per test image
///   train_log_likelihood, train_accuracy   the same of the training images (at most 10,000)
///   evidence        per training image: log q(D | M) / (N · likelihood weight); log_evidence: as it is
///   auroc           of the predictive entropy, test images against the other set; where there is one
///   bayes           accuracy, log_likelihood and ece of the linearised predictive (probit), where asked for
///   parameters, images, test_images, classes, best_epoch, gradient_norm, seconds_training, seconds_curvature
///   losses          by epoch;   passes: epoch and evidence (per image) of each curvature pass
///   curve           by epoch, where asked for: nll and error of training and test images
///   failure         why the training ended early, when it did
Json train_images(const ImageTraining& training, const Settings& settings, const CellContext& context);

/// A number of a result; NaN when it is not there.
double number_of(const Json& result, const std::string& key);

}  // namespace ockham::paper
