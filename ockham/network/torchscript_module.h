// TorchScript modules themselves, for those who write them again. Heavy header; others use network/torchscript.h.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>

namespace ockham {

/// The module in the bytes of a TorchScript file, with the checks of `load_torchscript`, in the given floating type.
torch::jit::Module parse_torchscript_module(const std::string& bytes, const std::string& name, at::ScalarType dtype);

}  // namespace ockham
