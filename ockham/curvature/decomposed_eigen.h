// The eigendecompositions that a curvature needs, each made once even when several blocks share a matrix, and many in
// parallel.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ockham/curvature/decompose_many.h"

namespace ockham {

class EigenStore {
 public:
  /// A symmetric [n, n]; the same memory gives the same index. Nothing is computed yet.
  size_t add(const at::Tensor& matrix);

  /// Decomposes these in parallel, now; those already decomposed are left alone.
  void compute(const std::vector<size_t>& indices, bool vectors, const DecomposeMany& decompose = {});

  bool has_values(size_t index) const { return entries_[index].values.defined(); }
  /// Computed when they are not there yet; negative round-off is set to zero. When vectors are asked for, all matrices
  /// that were decomposed without them are decomposed again together; their values stay as they were.
  const at::Tensor& values(size_t index);   // ascending, [n]
  const at::Tensor& vectors(size_t index);  // columns, [n, n]

  int64_t clipped() const { return clipped_; }
  void count_clipped(int64_t more) { clipped_ += more; }

 private:
  struct Entry {
    at::Tensor matrix, values, vectors;
  };
  std::vector<Entry> entries_;
  int64_t clipped_ = 0;
};

}  // namespace ockham
