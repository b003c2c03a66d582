// A directory of images in any layout that is known, read at once.
#pragma once

#include <optional>
#include <string>

#include "ockham/data/image_set.h"

namespace ockham {

enum class ImageLayout {
  idx,       // train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz], t10k-...: MNIST and its relatives
  cifar10,   // data_batch_*.bin, test_batch.bin: 1 label byte and 3072 pixel bytes; also SVHN's train*.bin, test*.bin
  cifar100,  // train.bin, test.bin: coarse label, fine label, 3072 pixel bytes; the fine one is taken
  folders,   // CLASS/*.png|jpg, or train/CLASS/... and test/CLASS/...
};

struct ImageDirectory {
  ImageLayout layout = ImageLayout::idx;
  ImageSet training;
  std::optional<ImageSet> test;  // where the layout has one
};

/// The layout of the files in `path`, if it is one of these: a look at names, nothing is read.
std::optional<ImageLayout> image_layout(const std::string& path);

/// Throws Error(data) naming the file and the byte or row: truncated files, labels out of range, mixed image sizes, a
/// corrupt image, an empty class folder.
ImageDirectory read_image_directory(const std::string& path);

}  // namespace ockham
