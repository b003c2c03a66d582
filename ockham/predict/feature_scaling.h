// Private to predict: the scaling of the encoded features, column by column.
#pragma once

#include <ATen/core/Tensor.h>

#include "ockham/data/table_encoding.h"

namespace ockham {

/// (x - mean) / sd for the features of `feature_names`; those of categories are left as they are: 0 and 1.
struct FeatureScaling {
  at::Tensor mean, sd;  // [D] float64
};
FeatureScaling feature_scaling(const TableEncoding& encoding);

}  // namespace ockham
