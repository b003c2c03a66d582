// What a run leaves: a network with its posterior and the scaling of its data, enough to predict with uncertainties
// without the training data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ockham/data/image_set.h"
#include "ockham/data/table_encoding.h"
#include "ockham/evidence/laplace_fit.h"
#include "ockham/probability/model.h"

namespace ockham {

struct TrainedModel {
  std::string network;               // the SPEC; for a TorchScript network the name of its file
  std::string torchscript;           // the bytes of that file; empty for an architecture
  std::vector<int64_t> input_shape;  // of one encoded example
  Model model;                       // weights at the mode; hyperparameters for standardised targets
  LaplaceFit posterior;              // at the same mode and hyperparameters
  TableEncoding encoding;            // from the table's own units to the network's and back
  /// Of images, whose input shape is [channels, height, width]; the network of `model` begins with it, and the encoding
  /// has the names of the classes only.
  std::optional<ImageScaling> images = std::nullopt;
};

/// What stands for the table of images: the task and the names of the classes.
TableEncoding image_encoding(const std::vector<std::string>& classes);

/// One safetensors file: weights by name, precisions, noise, temperature, the curvature's blocks, the scaling; and in
/// its metadata the network, the encoding and the kinds of likelihood, prior and curvature. Atomic. Throws
/// Error(failure).
void save_trained_model(const std::string& path, const TrainedModel& trained);

/// Reads it back: predictions are the same, bit for bit (to rounding when the posterior had derivatives for a
/// temperature: these are not kept). Throws Error(data) when the file is damaged, is no such model, or is of a newer
/// format.
TrainedModel load_trained_model(const std::string& path);

}  // namespace ockham
