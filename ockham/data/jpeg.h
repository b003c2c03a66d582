// JPEG files as bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace ockham {

/// uint8 [1, height, width] of a grey file, [3, height, width] of any other. `name` is for messages. Throws Error(data)
/// with libjpeg's reason, also where libjpeg would only warn and fill a damaged part with grey.
at::Tensor decode_jpeg(const std::string& name, const std::string& bytes);

}  // namespace ockham
