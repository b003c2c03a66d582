// Networks by name: the SPEC grammar of the tool and of the experiments.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/network/network.h"

namespace ockham {

/// Makes the network that `spec` describes for inputs [N, input_shape...] and outputs [N, outputs]:
///   linear                            one linear layer on the flattened input
///   mlp:50  mlp:50-50,act=tanh        hidden widths; act is relu (default, as in the paper's UCI networks),
///                                     tanh, gelu, silu, sigmoid, elu, selu, softplus, leaky_relu or identity
///   cnn:3c3d                          the paper's standard CNN (network/convnet.h), for images [C, H, W]
///   cnn:width=16,depth=3              the paper's family of plain Fixup CNNs (network/fixup_cnn.h), for images; one of
///                                     the keys may be left out
///   resnet:depth=20,width=16          Fixup ResNet (network/fixup_resnet.h), for images; keys may be left out
/// Weights are libtorch's default initialisation (Fixup's own for its CNNs and ResNets), drawn in float64 from the
/// stream of `seed` and then rounded to `dtype`; the global generator is not touched. Throws Error(usage) with a
/// suggestion for a spec that is not understood.
Network make_architecture(const std::string& spec, const std::vector<int64_t>& input_shape, int64_t outputs,
                          at::ScalarType dtype, uint64_t seed);

/// Throws as `make_architecture` would for a spec that is not understood, without making anything.
void check_architecture(const std::string& spec);

}  // namespace ockham
