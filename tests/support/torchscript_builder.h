// TorchScript modules made in C++, as Python would have saved them.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

namespace ockham::testing {

/// A module under construction. Parameters with dotted names ("block.conv1.weight") go to nested submodules, in the
/// order of their first mention; the script reads them as `self.block.conv1.weight`, or `getattr(self, "0").weight` for
/// names that are numbers.
class TorchScriptBuilder {
 public:
  TorchScriptBuilder();
  ~TorchScriptBuilder();

  TorchScriptBuilder& parameter(const std::string& name, const at::Tensor& value, bool requires_grad = true);
  TorchScriptBuilder& buffer(const std::string& name, const at::Tensor& value);
  /// Makes `name` the very tensor that `existing` is: a tied weight.
  TorchScriptBuilder& tie(const std::string& name, const std::string& existing);
  /// The flag that dropout and batch norm read as self.training; `true` is Python's default.
  TorchScriptBuilder& training(bool on);
  /// Python source of the method forward(self, x).
  TorchScriptBuilder& define(const std::string& source);
  void save(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ockham::testing
