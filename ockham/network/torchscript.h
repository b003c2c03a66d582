// Networks from TorchScript files.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "ockham/network/network.h"

namespace ockham {

/// Loads a TorchScript file that maps [N, ...] to [N, C], in the given floating type. The training flag is left as it
/// was saved. Throws Error(data) when the file is missing, is no TorchScript archive, is damaged (archive_check.h), or
/// was saved by a newer libtorch (naming both versions).
Network load_torchscript(const std::string& path, at::ScalarType dtype);

/// The same from the bytes of such a file; `name` is for the sentences.
Network parse_torchscript(const std::string& bytes, const std::string& name, at::ScalarType dtype);

}  // namespace ockham
