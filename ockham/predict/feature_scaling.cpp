#include "ockham/predict/feature_scaling.h"

#include <ATen/ATen.h>

#include <vector>

namespace ockham {

FeatureScaling feature_scaling(const TableEncoding& encoding) {
  std::vector<double> means, scales;
  for (const ColumnEncoding& input : encoding.inputs) {
    const bool numeric = input.kind == ColumnKind::numeric;
    const size_t width = numeric ? 1 : input.levels.size() + (input.missing_level ? 1 : 0);
    means.insert(means.end(), width, numeric ? input.mean : 0);
    scales.insert(scales.end(), width, numeric ? input.sd : 1);
  }
  return {at::tensor(means, at::kDouble), at::tensor(scales, at::kDouble)};
}

}  // namespace ockham
