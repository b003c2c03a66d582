// Private to evidence/: many float64 tensors exchanged between ranks as one buffer. Undefined tensors are left out, and
// those that share memory go once.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ockham/distributed/communicator.h"

namespace ockham {

/// Sums tensors over the ranks in place, so that what shares their memory follows.
class FlatSum {
 public:
  void add(at::Tensor& tensor);            // any shape and strides
  void add_symmetric(at::Tensor& tensor);  // [n, n] or [G, n, n]: the lower triangles go
  void run(Communicator& communicator);
  int64_t numbers() const { return numbers_; }

 private:
  struct Item {
    at::Tensor tensor;
    bool symmetric;
  };
  void add_once(const at::Tensor& tensor, bool symmetric);
  std::vector<Item> items_;
  int64_t numbers_ = 0;
};

/// Replaces tensors [n_r, ...], whose first sizes differ by rank, by [Σ_r n_r, ...] in the order of the ranks. The
/// tensors must live until `run`.
class FlatGather {
 public:
  void add(at::Tensor& tensor);
  void run(Communicator& communicator);

 private:
  std::vector<std::vector<at::Tensor*>> items_;  // those of one inner vector are the same memory
};

/// Replaces contiguous tensors by those of one rank.
class FlatCopy {
 public:
  void add(at::Tensor& tensor);
  void run(Communicator& communicator, int64_t root);

 private:
  std::vector<at::Tensor*> items_;
};

}  // namespace ockham
