// A model in the paper's sense: the network with its likelihood, its prior and their hyperparameters.
#pragma once

#include "ockham/network/network.h"
#include "ockham/probability/hyperparameters.h"
#include "ockham/probability/likelihood.h"
#include "ockham/probability/prior.h"

namespace ockham {

/// A cheap value: copies share the network's parameters.
struct Model {
  Network network;
  Likelihood likelihood;
  Prior prior;
  Hyperparameters hyperparameters;
};

}  // namespace ockham
