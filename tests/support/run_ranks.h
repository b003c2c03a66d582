// Several ranks as threads of one process, on a Gloo communicator each.
#pragma once

#include <functional>

#include "ockham/distributed/communicator.h"

namespace ockham::testing {

/// Does the work on every rank at once. The first exception of any rank is thrown when all have ended.
void run_ranks(int64_t ranks, const std::function<void(Communicator&)>& work, double timeout = 20);

}  // namespace ockham::testing
