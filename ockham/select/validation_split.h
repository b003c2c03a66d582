// Which examples train and which ones validate.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ockham {

enum class ValidationScheme {
  holdout,  // one split: a share of the examples validates
  folds,    // K splits: every example validates once
};

struct ValidationOptions {
  ValidationScheme scheme = ValidationScheme::holdout;
  double holdout_fraction = 0.1;  // the paper's
  int64_t folds = 5;
  uint64_t seed = 0;  // of the order in which the examples are dealt out
};

/// Rows of the data set, int64.
struct ValidationSplit {
  at::Tensor training, validation;
};

/// The splits of `examples` rows: one for a hold-out (of at least one row), K for folds, whose sizes differ by one at
/// most. Throws Error(usage) for a fraction outside (0, 1) or fewer than 2 folds, and Error(data) when there are too
/// few examples.
std::vector<ValidationSplit> split_for_validation(int64_t examples, const ValidationOptions& options);

}  // namespace ockham
