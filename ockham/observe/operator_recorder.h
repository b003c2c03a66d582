// Private to observe/: records the outermost operators of a forward pass that touch a parameter.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/edge.h>

#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ockham/network/network.h"

namespace ockham {

/// Finds the parameter behind a tensor: operators get views (W.t()), so identity is by storage and geometry.
class ParameterLookup {
 public:
  explicit ParameterLookup(const Network& network);

  /// Parameters whose memory the tensor shares, in any geometry.
  const std::vector<size_t>& sharing(const at::Tensor& tensor) const;
  /// The parameter that the tensor is: same memory, shape and strides. -1 when none.
  int64_t exact(const at::Tensor& tensor) const;
  /// The parameter whose 2-D transpose the tensor is; -1 when none.
  int64_t transposed(const at::Tensor& tensor) const;
  /// The parameter that the tensor is in the same order but perhaps another shape (W.view(1, -1, 1, 1)); -1 when none.
  int64_t reshaped(const at::Tensor& tensor) const;

 private:
  std::vector<at::Tensor> parameters_;
  std::unordered_map<const void*, std::vector<size_t>> by_storage_;
};

struct OperatorRecord {
  std::string name;  // "aten::linear"
  std::vector<c10::IValue> arguments;
  std::vector<torch::autograd::Edge>
      argument_edges;  // gradient edges of tensor arguments before the operator ran (in-place ones replace them)
  std::vector<uint32_t> argument_versions;  // version counters of tensor arguments when the operator ran
  std::vector<int64_t> output_shape;        // of the first output
  torch::autograd::Edge output_edge;        // where its gradient arrives; function is null when detached
  std::vector<size_t> touched;              // parameters whose memory an argument shares
};

/// Records while it lives, on this thread. Operators that only make views of a parameter are left out.
class OperatorRecorder {
 public:
  explicit OperatorRecorder(const ParameterLookup& lookup);
  ~OperatorRecorder();
  OperatorRecorder(const OperatorRecorder&) = delete;
  OperatorRecorder& operator=(const OperatorRecorder&) = delete;

  /// Stops, rethrows what a callback caught (libtorch would swallow it), and gives the records in order of execution.
  std::vector<OperatorRecord> finish();
  /// The first operator that mixes examples or is random ("batch norm in training mode"), or empty.
  const std::string& forbidden() const;

  struct State;

 private:
  void remove();
  std::unique_ptr<State> state_;
};

}  // namespace ockham
