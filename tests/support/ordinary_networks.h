// Ordinary networks as others make them, tiny: TorchScript files of a ResNet with batch norm and of a vision
// transformer.
#pragma once

#include <string>

namespace ockham::testing {

/// Images [N, 2, 6, 6] to [N, 3]: convolutions without bias, batch norm by its running statistics, a residual block
/// with a projected shortcut. Normalises as `training` says.
void save_batch_norm_resnet(const std::string& path, bool training = false);

/// Images [N, 2, 6, 6] to [N, 3]: 3 × 3 patches by a convolution, a class token, learned positions, one block of
/// two-headed attention and an MLP, layer norms, a linear head on the class token.
void save_vision_transformer(const std::string& path);

}  // namespace ockham::testing
