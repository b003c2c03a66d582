#include "ockham/select/validation_split.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

constexpr uint64_t kSplitStream = 0x73706c6974000000;

void check(int64_t examples, const ValidationOptions& options) {
  const bool folds = options.scheme == ValidationScheme::folds;
  if (folds && options.folds < 2) {
    throw Error(ErrorKind::usage, fmt::format("cross-validation needs at least 2 folds, but {} came", options.folds));
  }
  if (!folds && !(options.holdout_fraction > 0 && options.holdout_fraction < 1)) {
    throw Error(ErrorKind::usage,
                fmt::format("the share of examples to hold out must lie between 0 and 1 (0.1 is usual), but {} came",
                            options.holdout_fraction));
  }
  const int64_t needed = folds ? options.folds : 2;
  if (examples < needed) {
    throw Error(ErrorKind::data,
                fmt::format("validation needs at least {} examples, but the data set has {}", needed, examples));
  }
}

}  // namespace

std::vector<ValidationSplit> split_for_validation(int64_t examples, const ValidationOptions& options) {
  check(examples, options);
  const at::Tensor order = at::randperm(examples, random_stream({options.seed, kSplitStream}), at::kLong);
  const auto cut = [&](int64_t first, int64_t last) {
    return ValidationSplit{at::cat({order.narrow(0, 0, first), order.narrow(0, last, examples - last)}),
                           order.narrow(0, first, last - first)};
  };
  if (options.scheme == ValidationScheme::holdout) {
    const auto share = static_cast<int64_t>(std::llround(options.holdout_fraction * static_cast<double>(examples)));
    return {cut(0, std::clamp<int64_t>(share, 1, examples - 1))};
  }
  std::vector<ValidationSplit> splits;
  for (int64_t fold = 0; fold < options.folds; ++fold) {
    splits.push_back(cut(fold * examples / options.folds, (fold + 1) * examples / options.folds));
  }
  return splits;
}

}  // namespace ockham
