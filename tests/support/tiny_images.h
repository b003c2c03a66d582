// Small image sets on disk that a network can learn: three classes, each bright in another third of the rows.
#pragma once

#include <string>

#include "ockham/data/image_set.h"

namespace ockham::testing {

/// [count, channels, side, side] bytes, labels 0, 1, 2, 0, ...
ImageSet tiny_images(int64_t count, int64_t channels, int64_t side, uint64_t seed);

/// train-images-idx3-ubyte and so on, in a directory that is made. Without test images there is no t10k file.
void write_idx_directory(const std::string& directory, const ImageSet& training, int64_t test_images, uint64_t seed);

/// data_batch_1.bin and, with test images, test_batch.bin, of 3 x 32 x 32 pixels.
void write_cifar_directory(const std::string& directory, int64_t images, int64_t test_images, uint64_t seed);

}  // namespace ockham::testing
