// Flags of subcommands that several processes, ranks, can work on together.
#pragma once

#include <cstdint>
#include <string>

#include "app/flags.h"

namespace ockham::app {

enum class ParallelChoice { automatic, data, candidates };

struct RankFlags {
  int64_t ranks = 0;     // processes to start on this machine; 0: this one, or what a launcher's environment says
  double timeout = 300;  // seconds after which a rank that does not answer is given up
  ParallelChoice parallel = ParallelChoice::automatic;
  std::string only_for_several;  // a flag that was given and means nothing to one process
};

/// --ranks and --rank-timeout.
void add_rank_flags(CLI::App& app, RankFlags& flags);
/// --parallel data|candidates.
void add_parallel_flag(CLI::App& app, RankFlags& flags);
/// Refuses --rank-timeout and --parallel without --ranks and without a launcher's variables in the environment.
void check_rank_flags(const RankFlags& flags);

}  // namespace ockham::app
