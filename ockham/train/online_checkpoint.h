// The state of a training in a checkpoint's plain values, and back.
#pragma once

#include "ockham/store/checkpoint.h"
#include "ockham/train/train_online.h"

namespace ockham {

Checkpoint to_checkpoint(const OnlineState& state);

/// Throws Error(data) naming the checkpoint when something is missing or does not fit together.
OnlineState online_state(const Checkpoint& checkpoint);

}  // namespace ockham
