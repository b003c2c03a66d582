#include "app/ranks.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "app/counted.h"
#include "ockham/base/memory.h"
#include "ockham/base/sha256.h"
#include "ockham/distributed/gloo.h"

namespace ockham::app {
namespace {

/// Processes on this machine, by its name.
int64_t count_ranks_here(Communicator& ranks) {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const auto mine = static_cast<int64_t>(std::hash<std::string>{}(name) >> 1);
  const std::vector<int64_t> all = gather_counts(ranks, mine);
  return std::count(all.begin(), all.end(), mine);
}

int64_t this_rank = 0;

}  // namespace

bool is_first(const Communicator& ranks) { return ranks.rank() == 0; }

bool speaks(const Error& error) {
  if (this_rank == 0) return true;
  if (dynamic_cast<const SharedError*>(&error) != nullptr) return false;
  const char* first = std::getenv("OCKHAM_RANK_0");  // its process, from --ranks
  if (error.kind() != ErrorKind::peer_lost || first == nullptr) return true;
  if (this_rank > 1) return false;
  ::usleep(200000);  // until its parent has noticed its end
  return ::kill(static_cast<pid_t>(std::atol(first)), 0) != 0;
}

std::unique_ptr<Communicator> join_ranks(const RankFlags& flags, CommonFlags& common) {
  const std::optional<RankIdentity> identity = find_rank_identity(::getenv);
  if (!identity) return std::make_unique<Alone>();
  this_rank = identity->rank;
  std::unique_ptr<Communicator> ranks = connect_gloo(*identity, flags.timeout);
  if (!is_first(*ranks)) {
    common.quiet = true;
    common.json = false;
  }
  const int64_t here = count_ranks_here(*ranks);
  if (common.memory == 0) {
    const std::vector<int64_t> shares = gather_counts(*ranks, default_memory_budget() / here);
    common.memory = *std::min_element(shares.begin(), shares.end());
  }
  return ranks;
}

void expect_rows_for_all(const Communicator& ranks, int64_t rows) {
  if (rows < ranks.size())
    throw Error(ErrorKind::usage, fmt::format("--ranks: {} ranks cannot share out {}; start at most {}", ranks.size(),
                                              counted(rows, "training row"), rows));
}

void expect_the_same(Communicator& ranks, const std::string& what) {
  const std::string sum = sha256(what), first = broadcast_text(ranks, sum);
  attempt_together(ranks, [&] {
    if (sum != first)
      throw Error(ErrorKind::usage,
                  "it has other settings or data than rank 0; give all ranks the same flags, files and --threads");
  });
}

}  // namespace ockham::app
