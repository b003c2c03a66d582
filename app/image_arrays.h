// Images and their labels from NumPy files.
#pragma once

#include <string>

#include "ockham/data/image_set.h"

namespace ockham::app {

/// Whether an array has three or more dimensions: [N, H, W] or [N, C, H, W].
bool are_image_arrays(const std::string& path);

/// Images [N, H, W] or [N, C, H, W]: whole numbers from 0 to 255 become bytes, others float32 as they are.
at::Tensor read_image_array(const std::string& path);

/// With labels [N], whole numbers, when `labels` is not empty; the classes are the distinct ones in ascending order.
/// Throws Error(data).
ImageSet read_image_arrays(const std::string& images, const std::string& labels);

/// The scaling of images of either type; that of floats is by their own mean and standard deviation, written so that
/// the formula for bytes gives it.
ImageScaling scaling_of(const ImageSet& training);

}  // namespace ockham::app
