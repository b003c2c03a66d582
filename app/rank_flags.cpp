#include "app/rank_flags.h"

#include <CLI/CLI.hpp>

#include <cstdlib>

#include "app/model_flags.h"

namespace ockham::app {

void add_rank_flags(CLI::App& app, RankFlags& flags) {
  add_count(
      app, "--ranks", flags.ranks, 1,
      "Start N processes on this machine that work together; on several machines mpirun, srun or RANK, WORLD_SIZE "
      "and MASTER_ADDR do it (docs/scaling.md)");
  app.add_option_function<std::string>(
         "--rank-timeout",
         [&flags](const std::string& text) {
           try {
             flags.timeout = parse_seconds(text);
             flags.only_for_several = "--rank-timeout";
           } catch (const std::exception& error) {
             throw CLI::ValidationError("--rank-timeout", error.what());
           }
         },
         "Give up a process that has not answered for so long: seconds, or 10m (default: 5m)")
      ->option_text("TIME");
}

void add_parallel_flag(CLI::App& app, RankFlags& flags) {
  add_choice<ParallelChoice>(
      app, "--parallel", flags.parallel,
      {{"auto", ParallelChoice::automatic}, {"data", ParallelChoice::data}, {"candidates", ParallelChoice::candidates}},
      "What several processes share out: the data of each training, or the trainings; auto: the "
      "trainings where there are at least as many as processes")
      ->each([&flags](const std::string&) { flags.only_for_several = "--parallel"; });
}

void check_rank_flags(const RankFlags& flags) {
  if (flags.only_for_several.empty() || flags.ranks > 0) return;
  for (const char* variable : {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"})
    if (std::getenv(variable) != nullptr) return;
  throw CLI::ValidationError(flags.only_for_several,
                             "it is for several processes; add --ranks N, or start them with mpirun or srun "
                             "(docs/scaling.md), or leave it out");
}

}  // namespace ockham::app
