// Who am I among the processes of a run: from what a launcher left in the environment. Knows no libtorch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ockham {

/// The ranks meet at a file, when all are on one machine, or at a port of rank 0.
struct RankIdentity {
  int64_t rank = 0, size = 1;
  std::string file;     // where the ranks of `--ranks` meet; empty: at the address below
  std::string address;  // of rank 0
  int port = 0;
};

/// As ::getenv; null when a variable is not set.
using Environment = std::function<const char*(const char* name)>;

inline constexpr int default_rank_port = 29500;

/// The first of these that is there, or nothing: this process is alone.
///   OCKHAM_RANKS_FILE, RANK, WORLD_SIZE                    the tool's own --ranks
///   RANK, WORLD_SIZE, MASTER_ADDR [, MASTER_PORT]          torchrun and hand-made scripts
///   SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_STEP_NODELIST  srun; not the batch script itself, which is one process
///   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE             mpirun; over several machines with MASTER_ADDR
/// MASTER_ADDR and MASTER_PORT, where set, go before what a launcher says. Throws Error(usage) when the variables
/// contradict each other.
std::optional<RankIdentity> find_rank_identity(const Environment& environment);

/// The first name of a list as Slurm writes it: "node[07-09,12],other3" is node07.
std::string first_slurm_node(const std::string& list);

}  // namespace ockham
