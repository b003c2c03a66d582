// IDX files, the format of MNIST and its relatives: arrays of bytes behind a header of big-endian sizes.
#pragma once

#include <string>

#include "ockham/data/image_set.h"

namespace ockham {

/// Images [N, height, width] and their labels [N], both of unsigned bytes, plain or gzip, as an ImageSet of one channel
/// without class names. Throws Error(data) naming the file and the byte: another magic number, a size that the header
/// promises and the file does not hold, bytes after the end, as many labels as images or not. What a header promises is
/// compared with the size of the file before memory is taken.
ImageSet read_idx(const std::string& images_path, const std::string& labels_path);

/// An IDX array of unsigned bytes with that many dimensions: uint8 [sizes...].
at::Tensor read_idx_array(const std::string& path, int64_t dimensions);

}  // namespace ockham
