// Private to predict: the words that a model file keeps beside its tensors, as JSON text, and back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/predict/trained_model.h"

namespace ockham {

/// Raised when the meaning of the file changes; older ones stay readable.
inline constexpr int model_format_version = 1;

/// Everything in a model file that is no tensor.
struct ModelDescription {
  std::string network;
  bool torchscript = false;
  std::vector<int64_t> input_shape;
  int64_t outputs = 0;
  at::ScalarType dtype = at::kFloat;
  Likelihood likelihood;
  PriorKind prior = PriorKind::scalar;
  /// Of a prior of named groups: each group and the parameters in it.
  std::vector<std::pair<std::string, std::vector<std::string>>> prior_groups;
  LaplaceOptions laplace;  // what predictions and the evidence read of it
  int64_t examples = 0;    // of the training data
  std::vector<std::string> messages;
  std::optional<ImageScaling> images;
  std::vector<std::string> classes;  // of images; those of a table are in its encoding
};

std::string format_description(const ModelDescription& description);

/// Throws Error(data) when the text is not such a description.
ModelDescription parse_description(const std::string& json);

}  // namespace ockham
