#include "ockham/distributed/rank_identity.h"

#include <cstdlib>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr int kSlurmPorts = 20000, kFirstSlurmPort = 20000;

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool has(const char* name) const { return !text(name).empty(); }
  std::string text(const char* name) const {
    const char* value = environment_(name);
    return value == nullptr ? std::string() : value;
  }
  int64_t count(const char* name, int64_t largest) const {
    const std::string value = text(name);
    char* end = nullptr;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    if (end == value.c_str() || *end != '\0' || number < 0 || number > largest)
      throw Error(ErrorKind::usage, std::string("The environment variable ") + name + " is '" + value +
                                        "', a whole number up to " + std::to_string(largest) +
                                        " is expected; unset it to run as one process.");
    return number;
  }

 private:
  const Environment& environment_;
};

constexpr int64_t kMostRanks = 1000000;

RankIdentity read_identity(const Variables& variables, const char* rank, const char* size) {
  RankIdentity identity;
  identity.rank = variables.count(rank, kMostRanks);
  identity.size = variables.count(size, kMostRanks);
  if (identity.rank >= identity.size)
    throw Error(ErrorKind::usage, std::string("The environment says rank ") + std::to_string(identity.rank) + " of " +
                                      std::to_string(identity.size) + " (" + rank + ", " + size +
                                      "); ranks count from 0.");
  return identity;
}

void add_master(const Variables& variables, RankIdentity& identity, const std::string& address, int port) {
  identity.address = variables.has("MASTER_ADDR") ? variables.text("MASTER_ADDR") : address;
  identity.port = variables.has("MASTER_PORT") ? static_cast<int>(variables.count("MASTER_PORT", 65535)) : port;
}

/// Two of three are a wish that one process alone would not grant.
void refuse_incomplete(const Variables& variables) {
  int there = 0;
  std::string missing;
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR"}) {
    if (variables.has(name))
      ++there;
    else
      missing = name;
  }
  if (there != 2 || variables.text("WORLD_SIZE") == "1") return;
  throw Error(ErrorKind::usage, "Of the environment variables RANK, WORLD_SIZE and MASTER_ADDR, " + missing +
                                    " is not set; set it to work with other processes, or unset the others to run as "
                                    "one.");
}

}  // namespace

std::string first_slurm_node(const std::string& list) {
  const size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || (comma != std::string::npos && comma < bracket)) return list.substr(0, comma);
  const size_t end = list.find_first_of("-,]", bracket);
  const size_t close = list.find(']', bracket);
  if (end == std::string::npos || close == std::string::npos) return list.substr(0, bracket);
  const size_t suffix_end = list.find_first_of(",[", close);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) +
         list.substr(close + 1, suffix_end == std::string::npos ? suffix_end : suffix_end - close - 1);
}

std::optional<RankIdentity> find_rank_identity(const Environment& environment) {
  const Variables variables(environment);
  if (variables.has("OCKHAM_RANKS_FILE")) {
    RankIdentity identity = read_identity(variables, "RANK", "WORLD_SIZE");
    identity.file = variables.text("OCKHAM_RANKS_FILE");
    return identity;
  }
  std::optional<RankIdentity> identity;
  if (variables.has("RANK") && variables.has("WORLD_SIZE") && variables.has("MASTER_ADDR")) {
    identity = read_identity(variables, "RANK", "WORLD_SIZE");
    add_master(variables, *identity, {}, default_rank_port);
  } else if (variables.has("SLURM_PROCID") && variables.has("SLURM_STEP_NUM_TASKS")) {
    identity = read_identity(variables, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
    // One port per job, so that two jobs on one machine do not meet.
    const int64_t job = variables.has("SLURM_JOB_ID") ? variables.count("SLURM_JOB_ID", INT64_MAX) : 0;
    add_master(variables, *identity, first_slurm_node(variables.text("SLURM_STEP_NODELIST")),
               kFirstSlurmPort + static_cast<int>(job % kSlurmPorts));
  } else if (variables.has("OMPI_COMM_WORLD_RANK") && variables.has("OMPI_COMM_WORLD_SIZE")) {
    identity = read_identity(variables, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
    const bool local = variables.text("OMPI_COMM_WORLD_LOCAL_SIZE") == variables.text("OMPI_COMM_WORLD_SIZE");
    add_master(variables, *identity, local ? "127.0.0.1" : "", default_rank_port);
  }
  if (!identity) refuse_incomplete(variables);
  if (!identity || identity->size == 1) return std::nullopt;
  if (identity->address.empty())
    throw Error(ErrorKind::usage,
                "The ranks are on several machines and do not know where to meet; set MASTER_ADDR to the address of "
                "rank 0 (mpirun -x MASTER_ADDR=...).");
  return identity;
}

}  // namespace ockham
