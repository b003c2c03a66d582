// Small networks, each with one kind of layer or one way of using parameters that observing must get right.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "ockham/network/network.h"

namespace ockham::testing {

struct ZooNetwork {
  std::string name;
  Network network;
  at::Tensor inputs;                     // [5, ...]
  std::vector<std::string> unexplained;  // parameters that no recogniser can explain
};

/// Float64, three outputs, weights from a fixed seed.
std::vector<ZooNetwork> layer_zoo();

}  // namespace ockham::testing
