// A network that takes images as bytes: the scaling is its first step.
#pragma once

#include "ockham/data/image_set.h"
#include "ockham/network/network.h"

namespace ockham {

/// x ↦ network((x / 255 - mean) / sd), channel by channel, for images [N, channels, height, width] as bytes or as
/// floating values between 0 and 255. Shares the parameters of `network`.
Network scale_images(const Network& network, const ImageScaling& scaling);

}  // namespace ockham
