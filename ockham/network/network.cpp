#include "ockham/network/network.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "ockham/base/error.h"

namespace ockham {
namespace {

/// The line of a libtorch message that says what happened: TorchScript puts it last, after a trace of the script.
std::string reason_of(const std::string& message) {
  std::istringstream lines(message);
  std::string line, first, raised;
  while (std::getline(lines, line)) {
    if (first.empty()) first = line;
    const auto at = line.find("Error: ");
    if (at != std::string::npos && line.find(' ') >= at) raised = line.substr(at + 7);
  }
  return raised.empty() ? first : raised;
}

[[noreturn]] void report_failed_forward(const at::Tensor& inputs, const std::string& message) {
  throw Error(ErrorKind::data,
              fmt::format("the network cannot process {} inputs of shape [{}] ({}); check that the inputs fit it",
                          c10::toString(inputs.scalar_type()), fmt::join(inputs.sizes(), ", "), reason_of(message)));
}

}  // namespace

Network::Network(std::vector<std::pair<std::string, at::Tensor>> named_parameters, Forward forward)
    : forward_(std::move(forward)) {
  std::vector<ParameterSlot> slots;
  bool any_frozen = false;
  for (auto& [name, tensor] : named_parameters) {
    if (!tensor.requires_grad()) {
      any_frozen = true;
      continue;
    }
    const at::Tensor& candidate = tensor;
    const bool tied = std::any_of(parameters_.begin(), parameters_.end(),
                                  [&](const at::Tensor& known) { return known.is_same(candidate); });
    if (tied || tensor.numel() == 0) continue;
    if (!parameters_.empty() && parameters_[0].scalar_type() != tensor.scalar_type()) {
      throw Error(
          ErrorKind::data,
          fmt::format("parameter '{}' is {} but '{}' is {}: all parameters must have the same type", name,
                      c10::toString(tensor.scalar_type()), slots[0].name, c10::toString(parameters_[0].scalar_type())));
    }
    if (!std::isfinite(tensor.detach().sum(at::kDouble).item<double>()) &&
        !tensor.detach().isfinite().all().item<bool>()) {
      throw Error(
          ErrorKind::data,
          fmt::format("parameter '{}' of the network has values that are not finite; train the network again", name));
    }
    slots.push_back({name, tensor.sizes().vec(), 0, 0});
    parameters_.push_back(std::move(tensor));
  }
  if (parameters_.empty()) {
    throw Error(
        ErrorKind::data,
        any_frozen
            ? "all parameters of the network are frozen (none requires gradients), so there is nothing to "
              "integrate over; set requires_grad on those that were trained"
            : "the network has no parameters; a frozen or constant-folded TorchScript file has lost them, save the "
              "module before freezing");
  }
  layout_ = ParameterLayout(std::move(slots));
}

at::Tensor Network::forward(const at::Tensor& inputs) const {
  const torch::jit::GraphOptimizerEnabledGuard optimiser_off(false);
  try {
    return forward_(inputs);
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    report_failed_forward(inputs, error.what_without_backtrace());
  } catch (const std::runtime_error& error) {  // what TorchScript throws
    report_failed_forward(inputs, error.what());
  }
}

at::ScalarType Network::dtype() const { return parameters_[0].scalar_type(); }

at::Tensor Network::flat_parameters() const {
  at::Tensor theta = at::empty({layout_.total()}, at::kDouble);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    theta.narrow(0, layout_[i].offset, layout_[i].size).copy_(parameters_[i].detach().flatten());
  }
  return theta;
}

void Network::set_flat_parameters(const at::Tensor& theta) const {
  if (theta.dim() != 1 || theta.size(0) != layout_.total()) {
    throw Error(ErrorKind::usage, fmt::format("set_flat_parameters expects a vector of {} weights but got shape [{}]",
                                              layout_.total(), fmt::join(theta.sizes(), ", ")));
  }
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor values = theta.narrow(0, layout_[i].offset, layout_[i].size).view(layout_[i].shape);
    at::Tensor(parameters_[i]).copy_(values);
  }
}

}  // namespace ockham
