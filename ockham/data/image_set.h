// Labelled images as files keep them: a byte for each channel of each pixel.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ockham {

struct ImageSet {
  std::string name;                     // of the file or directory, for messages
  at::Tensor images;                    // uint8 [N, channels, height, width]
  at::Tensor labels;                    // int64 [N]; undefined where there are none
  std::vector<std::string> classes;     // name of each label; "0", "1", … where the files have none
  std::vector<std::string> files = {};  // of each image, below the directory, where each has its own; else empty

  int64_t size() const { return images.size(0); }
};

/// The examples at `rows`, in that order.
ImageSet take_images(const ImageSet& set, const at::Tensor& rows);

/// `count` examples, drawn by the generator and left in their order.
ImageSet draw_images(const ImageSet& set, int64_t count, at::Generator generator);

/// How bytes become what a network sees, channel by channel: (byte / 255 - mean) / sd, of the training images. It is
/// part of the network (network/scaled_images.h), so data stay bytes.
struct ImageScaling {
  std::vector<double> mean, sd;  // [channels]
};

/// Over all pixels of a channel; sd is 1 for a channel that does not vary.
ImageScaling learn_scaling(const ImageSet& training);

}  // namespace ockham
