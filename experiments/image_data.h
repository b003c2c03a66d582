// The image sets of an experiment: where they are in the data directory, and the images that one training uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "ockham/data/dataset.h"
#include "ockham/data/image_set.h"

namespace ockham::paper {

/// The directory of "cifar-10", "svhn" …: DATA/SET, or the first DATA/SET-… or DATA/SET_… (by name) that holds images.
std::optional<std::string> find_image_set(const std::string& data, const std::string& set);

/// "mnist is not in DATA: `ockham data mnist --to DATA/mnist` gets it".
std::string missing_sentence(const std::string& data, const std::string& set);

/// Those of `sets` that are there; throws Error(data) with the sentences of all when there is none.
std::vector<std::string> present_sets(const std::string& data, const std::vector<std::string>& sets);

/// The sentences of those that are not.
std::vector<std::string> missing_sets(const std::string& data, const std::vector<std::string>& sets);

/// Names and sizes of a set's files, for a cell's settings: other files are another experiment.
Json describe_files(const std::string& directory);

struct ImageProblem {
  Dataset training, test;  // bytes [N, channels, height, width] and classes [N]
  ImageScaling scaling;    // of these training images
  std::vector<std::string> classes;
  std::vector<int64_t> shape;  // [channels, height, width]
};

/// So many training and test images (0, or more than there are: all), drawn by the seed and left in their order.
/// Throws Error(data) when the directory has no test set or no labels.
ImageProblem read_image_problem(const std::string& directory, int64_t train_size, int64_t test_size, uint64_t seed);

/// Test images of a directory (all images where it has no test set), drawn as above: uint8 [N, channels, height,
/// width].
at::Tensor read_other_images(const std::string& directory, int64_t count, uint64_t seed);

}  // namespace ockham::paper
