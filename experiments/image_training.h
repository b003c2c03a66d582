// Everything that one training of a network on images depends on, and the paper's settings of it.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/experiment.h"
#include "ockham/train/train_online.h"

namespace ockham::paper {

/// How an experiment is sized: the paper's by default, less where the command line says so.
struct ImageScale {
  int64_t epochs = 300;
  int64_t seeds = 5;
  int64_t train_size = 0, test_size = 0;  // 0: all
  bool full = true;                       // all images and all epochs
  bool quick = false;
};

/// The paper's scale, changed by what the command line asks for; `--quick` is 500 images, 3 epochs and one seed where
/// nothing else is said. With few training images twice as many test images, at least 1000: scoring must not outlast
/// training.
ImageScale image_scale(const Settings& settings, int64_t epochs, int64_t seeds);
/// The beginning of the names of its cells, "n2000-e20": experiments of one scale may share cells, those of two
/// scales never do.
std::string scale_word(const ImageScale& scale);
/// One sentence for the notes.
std::string scale_words(const ImageScale& scale, const ImageScale& of_paper);

/// F in a training of so many epochs: the paper's, but at least eight passes.
int64_t frequency_for(int64_t epochs, int64_t of_paper);

/// B: none in full; with fewer images or epochs than the paper's a sixth of the epochs, the paper's other choice (50
/// of 300): the first passes would else see a network that has learnt next to nothing.
int64_t burn_in_for(const ImageScale& scale);

/// Examples a step: the paper's 128 in full, else 32, so that the few images and epochs give four times the steps.
int64_t batch_for(const ImageScale& scale);

/// The ResNet of CIFAR-10 as a SPEC: 16 channels at first in full, else 8, a quarter of the weights for the fewer
/// images.
std::string resnet_for(const ImageScale& scale, int64_t depth);
/// How it is trained, one sentence for the notes.
std::string resnet_words(const ImageScale& scale);

enum class ImageMethod {
  kron,          // Kronecker-factored GGN, by the paper's rule for the positions of a convolution
  kron_damped,   // the same with damping
  kron_expand,   // by ockham's own rule
  diagonal_ef,   //
  diagonal_ggn,  //
  weight_decay,  // no learning: 5e-4 for all weights, one estimate at the end (kron)
};
std::string word_of(ImageMethod method);  // in the names of cells: "kron"
std::string name_of(ImageMethod method);  // in tables: "kron GGN"

struct ImageTraining {
  std::string set;      // "fashion-mnist"
  std::string network;  // SPEC
  int64_t train_size = 0, test_size = 0;
  uint64_t seed = 0;  // draws images, weights and batches
  ImageMethod method = ImageMethod::kron;
  bool augment = false;  // crop and flip, anew in every epoch
  double likelihood_weight = 1;
  double weight_decay = 5e-4;  // of the mean loss: a precision of 5e-4 N
  int64_t epochs = 300;
  int64_t frequency = 10, steps = 100, burn_in = 0;  // F, K, B
  double step_size = 1;                              // γ
  int64_t batch_size = 128;
  int64_t best_after = 270;
  OptimiserKind optimiser = OptimiserKind::adam;
  double learning_rate = 1e-3;
  int64_t linearised = 0;    // test images for the linearised predictive
  std::string other;         // "svhn": images that it should tell apart; empty: none
  int64_t curve_images = 0;  // training and test images that are scored after every epoch; 0: no curves
};

/// Section 4.3's settings: Adam with 1e-3, a ResNet with SGD and Fixup's 0.1 (for batches of 128, less for
/// smaller ones), K = 100, γ = 1; best states from the last
/// tenth of the epochs.
ImageTraining paper_training(const std::string& set, const std::string& network, ImageMethod method,
                             const ImageScale& scale);

/// The key of seed number `index` of a run: images and weights are then the same for every method.
uint64_t image_seed(const Settings& settings, int64_t index);

Json to_json(const ImageTraining& training);
OnlineOptions online_options(const ImageTraining& training, int64_t memory);

}  // namespace ockham::paper
