// A plain multilayer perceptron, f(x) = W_L φ(… φ(W_1 x + b_1) …) + b_L, passed forward and backward by hand: on a
// small table libtorch's bookkeeping (graph, allocation, observation) takes several times as long as the arithmetic.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "ockham/network/network.h"

namespace ockham {

class PlainMlp {
 public:
  /// An elementwise function and its derivative, without allocation. `values` and `results` are x and φ(x).
  struct Activation {
    void (*apply)(at::Tensor& results, const at::Tensor& values) = nullptr;
    void (*derive)(at::Tensor& gradient_in, const at::Tensor& gradient_out, const at::Tensor& values,
                   const at::Tensor& results) = nullptr;
  };
  struct Layer {
    size_t weight = 0, bias = 0;  // indices in the layout; [o, d] and [o]
    Activation activation;        // after it; empty for the identity and for the last layer
  };

  /// Looks at the operators of one forward pass. Nothing when they are anything else than linear layers with a bias and
  /// known activations in between, one after the other from the input [N, d] to the output, each parameter used once.
  static std::optional<PlainMlp> recognise(const Network& network, const at::Tensor& inputs);

  PlainMlp(const Network& network, std::vector<Layer> layers);

  const Network& network() const { return network_; }
  const std::vector<Layer>& layers() const { return layers_; }
  int64_t outputs(size_t layer) const { return network_.layout()[layers_[layer].weight].shape[0]; }

  /// The outputs [N, C]. What this and `backward` give is valid until their next call.
  const at::Tensor& forward(const at::Tensor& inputs);
  /// Sends one column [N, C] back to the outputs of the layers, before their activations.
  void backward(const at::Tensor& column);

  const at::Tensor& input(size_t layer) const { return passes_[layer].input; }        // a [N, d] of the last forward
  const at::Tensor& gradient(size_t layer) const { return passes_[layer].gradient; }  // g [N, o] of the last backward

  /// Adds Σ_n g_n a_nᵀ and Σ_n g_n of the last backward to the gradients of the parameters, as autograd does.
  void add_parameter_gradients() const;

 private:
  struct Pass {
    at::Tensor input, output, gradient;
    at::Tensor result;  // φ(output)
    at::Tensor sent;    // gradient at the result
  };
  Network network_;
  std::vector<Layer> layers_;
  std::vector<Pass> passes_;
};

/// While it lives, training and curvature passes of this thread over this network are made by hand when it is a plain
/// MLP and the table is small. One at a time.
class HandmadePasses {
 public:
  HandmadePasses(const Network& network, const at::Tensor& inputs);
  ~HandmadePasses();
  HandmadePasses(const HandmadePasses&) = delete;
  HandmadePasses& operator=(const HandmadePasses&) = delete;

  /// The network's plain form when such an object lives on this thread; null otherwise.
  static PlainMlp* of(const Network& network);

 private:
  std::optional<PlainMlp> mlp_;
  PlainMlp* previous_;
};

}  // namespace ockham
