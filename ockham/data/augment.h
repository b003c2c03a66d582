// Random changes of training images that leave their class: drawn anew each epoch, from a stream of their own.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ockham {

struct AugmentOptions {
  int64_t crop_padding = 0;  // random crop of the image's own size after padding with zero bytes; 0: none
  bool flip = false;         // left to right, with probability one half
  bool any() const { return crop_padding > 0 || flip; }
};

/// Images [B, channels, height, width] of any type; a new tensor. Each image has its own draw.
at::Tensor augment(const at::Tensor& images, const AugmentOptions& options, at::Generator generator);

}  // namespace ockham
