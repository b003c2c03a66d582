// PNG files as bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace ockham {

/// uint8 [1, height, width] of a grey file, [3, height, width] of any other, exactly as stored (no gamma). 16 bits are
/// rounded to 8, palettes become colours, transparency is laid over white. `name` is for messages. Throws Error(data)
/// with libpng's reason.
at::Tensor decode_png(const std::string& name, const std::string& bytes);

}  // namespace ockham
