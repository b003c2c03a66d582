// Remembers at which point something was computed, so that it is computed once when value, solve and samples ask in
// turn.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>

#include "ockham/curvature/decomposed.h"

namespace ockham {

class RememberedPoint {
 public:
  /// True when `point` is the one of the last call; otherwise it is remembered, and the caller computes.
  bool same(const PrecisionPoint& point) {
    const bool equal = known_ && point.scale == point_.scale && alike(point.root_shift, point_.root_shift) &&
                       alike(point.log_prior_precision, point_.log_prior_precision);
    if (!equal) {
      point_ = {point.scale, point.log_prior_precision.clone(),
                point.root_shift.defined() ? point.root_shift.clone() : at::Tensor()};
      known_ = true;
    }
    return equal;
  }
  void forget() { known_ = false; }

 private:
  static bool alike(const at::Tensor& a, const at::Tensor& b) {
    return a.defined() == b.defined() && (!a.defined() || at::equal(a, b));
  }
  PrecisionPoint point_;
  bool known_ = false;
};

}  // namespace ockham
