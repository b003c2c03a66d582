// Networks from TorchScript files.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "ockham/network/network.h"

namespace ockham {

/// A TorchScript file is a program: loading and running it does what its author wrote. From now on this process refuses
/// every one, also inside of models, with one sentence (Error(usage), and Error(data) for models). The environment
/// variable OCKHAM_NO_TORCHSCRIPT, set to anything but 0, does the same from the start.
void refuse_torchscript();
bool torchscript_is_refused();
/// Throws Error(usage) when they are refused; `name` is the file, or what holds it.
void expect_torchscript_allowed(const std::string& name);

/// Loads a TorchScript file that maps [N, ...] to [N, C], in the given floating type. The training flag is left as it
/// was saved. Throws Error(data) when the file is missing, is no TorchScript archive, is damaged (archive_check.h), or
/// was saved by a newer libtorch (naming both versions).
Network load_torchscript(const std::string& path, at::ScalarType dtype);

/// The same from the bytes of such a file; `name` is for the sentences.
Network parse_torchscript(const std::string& bytes, const std::string& name, at::ScalarType dtype);

}  // namespace ockham
