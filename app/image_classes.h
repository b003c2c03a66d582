// Two sets of images side by side: whether they fit each other, and the labels of one in the numbers of the other.
#pragma once

#include <c10/util/ArrayRef.h>

#include <string>
#include <vector>

#include "ockham/data/image_directory.h"

namespace ockham::app {

/// "IDX", "CIFAR-10 binary", ...
const char* layout_words(ImageLayout layout);

/// Throws Error(data) in a sentence when the images have another shape than [channels, height, width].
void expect_same_images(c10::IntArrayRef shape, const ImageSet& set);

/// The test set of a directory, or all of it when it has none.
ImageSet read_test_images(const std::string& directory);

/// Labels [N] as positions in `classes`, by name; by number where a set of as many classes has no names. Undefined when
/// there are no labels. Throws Error(data) naming a class that is not known.
at::Tensor labels_among(const std::vector<std::string>& classes, const ImageSet& set);

}  // namespace ockham::app
