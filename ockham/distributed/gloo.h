// A communicator on c10d's Gloo, over TCP: what Debian's libtorch brings along.
#pragma once

#include <memory>

#include "ockham/distributed/communicator.h"
#include "ockham/distributed/rank_identity.h"

namespace ockham {

/// Collective: waits for all ranks, at most `timeout` seconds. After that, a rank that dies is noticed by the others at
/// their next call at once, one that hangs (or whose machine is gone) after `timeout` seconds. Throws Error(peer_lost)
/// when not all come, Error(failure) when an address cannot be used.
std::unique_ptr<Communicator> connect_gloo(const RankIdentity& identity, double timeout);

}  // namespace ockham
