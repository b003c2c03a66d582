// The weights of one curvature block: where they lie in θ, and which precisions govern them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ockham/probability/prior.h"

namespace ockham {

class BlockSpan {
 public:
  /// Consecutive weights of the block with one precision.
  struct Run {
    int64_t group = 0;
    int64_t first = 0;  // within the block
    int64_t size = 0;
  };

  BlockSpan(std::shared_ptr<const Prior> prior, std::vector<size_t> parameters);

  int64_t size() const { return size_; }  // p
  int64_t groups() const { return prior_->size(); }
  const std::vector<size_t>& parameters() const { return parameters_; }
  int64_t size_of(size_t parameter) const { return prior_->layout()[parameter].size; }
  std::string name() const;  // of its parameters, for messages

  at::Tensor gather(const at::Tensor& flat) const;                 // [..., P] to [..., p]
  void scatter(const at::Tensor& values, at::Tensor& flat) const;  // writes [..., p] into [..., P]

  /// The group when one precision governs the whole block, else -1.
  int64_t uniform_group() const { return runs_.size() == 1 ? runs_[0].group : -1; }
  /// Empty unless every parameter of the block has a single precision.
  const std::vector<Run>& runs() const { return runs_; }

  at::Tensor log_precision(const at::Tensor& log_prior_precision) const;     // [G] to [p]
  void accumulate(const at::Tensor& by_weight, at::Tensor& by_group) const;  // adds [p] into [G]

 private:
  std::shared_ptr<const Prior> prior_;
  std::vector<size_t> parameters_;
  std::vector<Run> runs_;
  int64_t size_ = 0;
};

}  // namespace ockham
