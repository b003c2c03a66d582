// Makes a Network of any torch::nn module that has `forward(Tensor)`. Heavy header: include it where modules are made.
#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "ockham/network/network.h"

namespace ockham {

/// `module` is the shared pointer inside a holder (`net.ptr()`), or one made by std::make_shared.
template <class Module>
Network make_network(std::shared_ptr<Module> module) {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (const auto& item : module->named_parameters()) named.emplace_back(item.key(), item.value());
  return Network(std::move(named), [module](const at::Tensor& inputs) { return module->forward(inputs); });
}

}  // namespace ockham
