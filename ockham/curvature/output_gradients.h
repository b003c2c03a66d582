// The gradients of all outputs for one batch, seen from the parameters: their Jacobian [N, C, P] in pieces, so that it
// never is in memory as a whole.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ockham/network/network.h"
#include "ockham/observe/observe_forward.h"

namespace ockham {

class OutputGradients {
 public:
  struct Options {
    /// Only these parameters; the others count as known. Empty: all.
    std::vector<size_t> parameters;
    /// Of what is computed from the gradients. The gradients themselves are in the network's type.
    at::ScalarType type = at::kDouble;
  };
  /// Back-propagates the C outputs one after the other. Network and observation must outlive this.
  OutputGradients(const Network& network, const Observation& observation, Options options);

  int64_t examples() const { return outputs_.size(0); }  // N
  int64_t outputs() const { return outputs_.size(1); }   // C
  at::ScalarType type() const { return options_.type; }
  bool has(size_t parameter) const { return wanted_[parameter]; }

  /// J of one parameter for the examples [first, first + count): [count, C, p] in `type`.
  at::Tensor jacobian(size_t parameter, int64_t first, int64_t count) const;

  /// A weight [groups, d0, d1] whose gradient is a sum of products over positions: for output c of an example
  /// Σ_s gradient_cs input_sᵀ, [dg, di], transposed when the weight is flattened [in][out].
  struct Products {
    bool gradient_left = true;  // d0 = dg, d1 = di; else the other way round
    at::Tensor gradients;       // [groups, count, C, dg, S] in `type`
    at::Tensor inputs;          // [groups, count, S, di]
  };
  /// Linear layers and convolutions; not embeddings, and not what the layer calls do not explain.
  bool has_products(size_t parameter) const;
  /// Uses of one weight are further positions.
  Products products(size_t parameter, int64_t first, int64_t count) const;

 private:
  struct Use {
    size_t call = 0;
    const ParameterUse* use = nullptr;
  };
  void back_propagate();

  const Network& network_;
  const Observation& observation_;
  Options options_;
  at::Tensor outputs_;
  std::vector<bool> wanted_;
  std::vector<std::vector<Use>> uses_;              // by parameter
  std::vector<std::vector<at::Tensor>> gradients_;  // [call][C], of calls with a weight
  std::vector<at::Tensor> rows_;                    // by parameter, [N, C, p]: those that are no weights
};

/// The last linear layer that a forward pass ran: its call and its parameters. Empty when there is none.
struct LastLayer {
  size_t call = 0;
  std::vector<size_t> parameters;
};
std::optional<LastLayer> find_last_layer(const Observation& observation);

/// Bytes for one example while `OutputGradients` lives, about; from an observation of some examples.
int64_t output_gradient_bytes(const Network& network, const Observation& sample, const std::vector<size_t>& parameters);

}  // namespace ockham
