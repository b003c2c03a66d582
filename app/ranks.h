// This process among those that work on one run: who it is, and what all of them must have in common.
#pragma once

#include <memory>
#include <string>

#include "app/rank_flags.h"
#include "ockham/distributed/agreement.h"
#include "ockham/distributed/communicator.h"

namespace ockham::app {

/// Connects to the other ranks that --ranks or a launcher's environment names; `Alone` when there are none. Ranks other
/// than 0 say nothing (--quiet); without --memory every rank has its share of the memory of the smallest machine, since
/// all must choose the same form of the curvature.
std::unique_ptr<Communicator> join_ranks(const RankFlags& flags, CommonFlags& common);

/// Collective. Throws Error(usage) when a rank has other settings or data than rank 0; `what` holds all of them.
void expect_the_same(Communicator& ranks, const std::string& what);

/// Throws Error(usage) when there are fewer rows than ranks that share them out.
void expect_rows_for_all(const Communicator& ranks, int64_t rows);

/// Rank 0, or alone: the one that prints and writes.
bool is_first(const Communicator& ranks);

/// Whether this process should say why it ends, for an error of its own, one that all ranks share, or a lost rank.
bool speaks(const Error& error);

}  // namespace ockham::app
