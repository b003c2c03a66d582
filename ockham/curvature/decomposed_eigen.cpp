#include "ockham/curvature/decomposed_eigen.h"

#include <ATen/ATen.h>

#include "ockham/linalg/symmetric_eigen.h"

namespace ockham {

size_t EigenStore::add(const at::Tensor& matrix) {
  // By memory, not by tensor: a bias may hold its layer's factor as a view of the stacked groups.
  for (size_t i = 0; i < entries_.size(); ++i) {
    const at::Tensor& known = entries_[i].matrix;
    if (known.data_ptr() == matrix.data_ptr() && known.sizes() == matrix.sizes() &&
        known.strides() == matrix.strides()) {
      return i;
    }
  }
  entries_.push_back({matrix, {}, {}});
  return entries_.size() - 1;
}

void EigenStore::compute(const std::vector<size_t>& indices, bool vectors, const DecomposeMany& decompose) {
  std::vector<size_t> missing;
  std::vector<at::Tensor> matrices;
  for (size_t index : indices) {
    Entry& entry = entries_[index];
    if (vectors ? entry.vectors.defined() : entry.values.defined()) continue;
    missing.push_back(index);
    matrices.push_back(entry.matrix);
  }
  if (missing.empty()) return;
  std::vector<SymmetricEigen> eigen = decompose ? decompose(matrices, vectors) : symmetric_eigen(matrices, vectors);
  for (size_t i = 0; i < missing.size(); ++i) {
    Entry& entry = entries_[missing[i]];
    if (vectors) entry.vectors = eigen[i].vectors;
    if (entry.values.defined()) continue;
    clipped_ += clip_negative(eigen[i].values);
    entry.values = eigen[i].values;
  }
}

const at::Tensor& EigenStore::values(size_t index) {
  if (!entries_[index].values.defined()) compute({index}, false);
  return entries_[index].values;
}

const at::Tensor& EigenStore::vectors(size_t index) {
  if (!entries_[index].vectors.defined()) {
    std::vector<size_t> without = {index};
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (i != index && entries_[i].values.defined()) without.push_back(i);
    }
    compute(without, true);
  }
  return entries_[index].vectors;
}

}  // namespace ockham
