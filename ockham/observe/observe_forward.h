// Observing one forward pass: which operators used which parameters, with which inputs and outputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ockham/network/network.h"
#include "ockham/observe/layer_call.h"

namespace ockham {

struct ObserveOptions {
  /// Recognisers to leave out, by name ("linear", "convolution", "elementwise", "normalisation", "embedding"): for
  /// tests, and for a user who distrusts one. What they would have explained goes to the exact fallback.
  std::vector<std::string> without_recognisers;
  /// Parameters to leave to the exact fallback, by index: those that `verify_calls` refused.
  std::vector<size_t> leave_unexplained;
};

/// The result of a forward pass: outputs with their graph, the recognised layer calls, and the parameters that some
/// operator used in a way that no recogniser explains (for these the layer calls are incomplete and must not be used).
class Observation {
 public:
  const at::Tensor& inputs() const;   // [N, ...], as the network got them
  const at::Tensor& outputs() const;  // [N, C], attached to the graph
  const std::vector<LayerCall>& calls() const;
  const std::vector<size_t>& unexplained_parameters() const;  // sorted
  const std::vector<size_t>& unused_parameters() const;       // no operator touched them: their curvature is zero
  const std::string& reason(size_t parameter) const;          // why a parameter is unexplained, for messages

  /// Back-propagates one column v [N, C] to the outputs of the layer calls: one gradient per call (undefined where it
  /// does not reach). No weight gradients are computed. The graph is kept until the observation dies.
  std::vector<at::Tensor> backward(const at::Tensor& column) const;
  /// The same gradients one after the other, each given away as soon as it is known and then forgotten: all of them at
  /// once may need more memory than the forward pass. Calls that the column does not reach are left out.
  using EachGradient = std::function<void(size_t call, const at::Tensor& gradient)>;
  void backward(const at::Tensor& column, const EachGradient& each) const;
  /// The same for several columns [K, N, C] at once, which is faster where the layers are dense ones in a chain; the
  /// gradients are [K, N, ...]. False, and nothing is done, for other networks.
  bool backward_together(const at::Tensor& columns, const EachGradient& each) const;
  /// The plain autograd gradient of (outputs · column) for the given parameters (undefined where it does not reach).
  std::vector<at::Tensor> parameter_gradients(const at::Tensor& column, const std::vector<size_t>& parameters) const;

  /// Takes over which dimension counts the examples from a verified observation of the same network: where a batch has
  /// as many examples as positions, shapes alone cannot tell. False when the calls are not the same (control flow that
  /// depends on data).
  bool follow(const Observation& verified);

  struct State;
  explicit Observation(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

/// Throws Error(data) when the network mixes examples (batch norm in training mode) or is random (active dropout), with
/// the reason, and when the output is not [N, C].
Observation observe_forward(const Network& network, const at::Tensor& inputs, const ObserveOptions& options = {});

/// Checks the layer calls against autograd: with a random column on a random half of the examples, gradients rebuilt
/// from the calls must equal autograd's, and must vanish for the other half. Returns the parameters that fail (to be
/// treated as unexplained); throws Error(data) when outputs for some examples alone differ from those within the batch.
std::vector<size_t> verify_calls(const Observation& observation, const Network& network, uint64_t seed = 0);

}  // namespace ockham
