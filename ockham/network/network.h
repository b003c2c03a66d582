// A network is a function of inputs and named parameters. It is observed, never rewritten.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ockham/network/parameter_layout.h"

namespace ockham {

/// A cheap handle: copies share the parameters. For a torch::nn module use `make_network` (network/module_network.h),
/// for a TorchScript file `load_torchscript` (network/torchscript.h).
class Network {
 public:
  using Forward = std::function<at::Tensor(const at::Tensor&)>;

  /// Parameters that do not require gradients are frozen: they are no part of θ. A tensor listed twice (tied weights)
  /// counts once, under its first name. Throws Error(data) when nothing is left or a value is not finite.
  Network(std::vector<std::pair<std::string, at::Tensor>> named_parameters, Forward forward);

  /// [N, ...] to [N, C], as the network gives it; runs with the TorchScript optimiser off (it detaches parameters).
  at::Tensor forward(const at::Tensor& inputs) const;

  const ParameterLayout& layout() const { return layout_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  at::ScalarType dtype() const;

  at::Tensor flat_parameters() const;                       // θ [P], a float64 copy
  void set_flat_parameters(const at::Tensor& theta) const;  // writes θ [P] back in the parameters' own type

 private:
  ParameterLayout layout_;
  std::vector<at::Tensor> parameters_;
  Forward forward_;
};

}  // namespace ockham
