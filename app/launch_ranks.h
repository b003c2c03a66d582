// --ranks N: the front end starts N processes of itself on this machine and watches over them. Knows no libtorch.
#pragma once

#include <cstdint>
#include <optional>

namespace ockham::app {

/// Forks. In a child returns nothing, with RANK, WORLD_SIZE and OCKHAM_RANKS_FILE in its environment; the standard
/// output is that of rank 0 alone, and no child outlives its parent. In the parent waits for all and returns the exit
/// code: 0 when rank 0 did its work, else that of the rank that failed first by itself, or 5 when a rank was lost.
/// Signals that end a program are handed on to all ranks. When a rank has said that another is lost, or rank 0 is done,
/// the others have a few seconds more: what then still runs hangs, and is killed.
std::optional<int> launch_ranks(int64_t ranks);

}  // namespace ockham::app
