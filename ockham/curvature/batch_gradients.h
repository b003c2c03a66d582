// Private to curvature/: the back-propagated columns of one batch, column by column, seen from the parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ockham/network/network.h"
#include "ockham/observe/observe_forward.h"
#include "ockham/probability/likelihood.h"

namespace ockham {

/// One use of a parameter in the batch's forward pass.
struct UseInBatch {
  size_t call = 0;
  const ParameterUse* use = nullptr;
};

class BatchGradients {
 public:
  /// `by_autograd`: unexplained parameters whose rows are wanted through `per_example`; they are computed here, at
  /// once.
  BatchGradients(const Network& network, const Observation& observation, const OutputRoot& root,
                 const std::vector<size_t>& by_autograd);

  int64_t examples() const { return root_.root.size(0); }                                 // N
  int64_t columns() const { return root_.root.size(2); }                                  // K
  int64_t derivatives() const { return static_cast<int64_t>(root_.derivatives.size()); }  // M
  const std::vector<UseInBatch>& uses(size_t parameter) const { return uses_[parameter]; }
  const LayerCall& call(size_t index) const { return observation_.calls()[index]; }
  const Network& network() const { return network_; }
  const at::Tensor& inputs() const { return observation_.inputs(); }
  const OutputRoot& root() const { return root_; }

  /// A linear layer used once, on one position an example: its per-example gradient is the product of one gradient and
  /// one input.
  bool has_product_rows(size_t parameter) const;

  /// Parameters whose gradients are added together.
  using Part = std::vector<size_t>;
  /// Back-propagates the next column, and its derivatives, and calls add(i) for each of `parts` as soon as its
  /// gradients are known. A gradient that all its parts have seen is forgotten.
  void next_column(const std::vector<Part>& parts, const std::function<void(size_t)>& add);
  int64_t column() const { return column_; }

  /// The current column's gradient at the output of a call; undefined where it does not reach. `derivative` -1: the
  /// column itself.
  const at::Tensor& output_gradient(size_t call, int64_t derivative = -1) const;
  /// Where columns were sent back together, and the parameter has product rows: the gradients of all of these columns
  /// at its call, [k · N, o], at the first one; undefined at the others, which have been seen. Nothing elsewhere.
  std::optional<at::Tensor> stacked_rows(size_t parameter) const;
  /// The current column's per-example gradient of a parameter, summed over its uses: [N, p].
  at::Tensor per_example(size_t parameter, int64_t derivative = -1) const;
  /// The same into `rows` [N, p], which may be a part of wider rows.
  void write_per_example(size_t parameter, int64_t derivative, at::Tensor& rows) const;
  /// The same for examples [first, first + count), for work in chunks.
  at::Tensor per_example(size_t parameter, int64_t derivative, int64_t first, int64_t count) const;

 private:
  const Network& network_;
  const Observation& observation_;
  const OutputRoot& root_;
  void pass_at_once(const std::vector<Part>& parts, const std::function<void(size_t)>& add);
  bool take_from_stack();
  int64_t columns_together() const;
  std::vector<std::vector<UseInBatch>> uses_;
  int64_t column_ = -1;
  std::vector<std::vector<at::Tensor>> gradients_;  // [1 + M][call]
  std::vector<at::Tensor> stack_;                   // [call], [k, N, ...]: columns that were sent back together
  int64_t stack_first_ = 0, stack_end_ = 0;         // which ones
  // rows of unexplained parameters, [1 + M] of [N, K, p], undefined otherwise
  std::vector<std::vector<at::Tensor>> autograd_rows_;
};

}  // namespace ockham
