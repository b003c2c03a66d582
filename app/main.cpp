// The front end: answers help and wrong usage at once, prepares the environment that OpenBLAS and OpenMP read when they
// are loaded, and only then loads the engine, and with it libtorch.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/launch_ranks.h"
#include "app/say.h"
#include "app/subcommands.h"
#include "ockham/base/cpu.h"
#include "ockham/base/environment.h"
#include "ockham/base/printable.h"

namespace {

using EngineMain = int (*)(int, char**);

int fail(const std::string& sentence, int code) {
  ockham::app::say(fmt::format("ockham: {}\n", ockham::printable(sentence)));
  return code;
}

/// What is written to a stream that the caller has closed would else go into the file that is opened next. A closed
/// stdout stays one that cannot be written to.
void open_closed_streams() {
  for (const int descriptor : {0, 1, 2})
    if (fcntl(descriptor, F_GETFD) == -1) open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
}

/// --threads goes before the user's environment, which goes before the number of CPUs, of which each rank has its
/// share.
void set_thread_environment(unsigned threads, int64_t ranks_here) {
  const bool replace = threads > 0;
  const auto share = static_cast<unsigned>(std::max<int64_t>(1, ockham::available_cpus() / ranks_here));
  const std::string count = std::to_string(replace ? threads : share);
  if (!replace && std::getenv("OMP_NUM_THREADS") != nullptr) return;  // OpenBLAS reads this one too
  setenv("OMP_NUM_THREADS", count.c_str(), replace);
  setenv("OPENBLAS_NUM_THREADS", count.c_str(), replace);
}

/// Beside the executable in a build tree, in the library directory of an installation.
EngineMain load_engine(std::string& trouble) {
  std::error_code ignored;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path directory = executable.parent_path();
  for (const std::filesystem::path& place : {directory, directory / OCKHAM_ENGINE_FROM_BIN}) {
    const std::filesystem::path file = place / "libockham_engine.so";
    if (!std::filesystem::exists(file, ignored)) continue;
    // Global, so that exceptions and type information are one and the same in all of libtorch's libraries.
    void* engine = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (engine == nullptr) {
      trouble = fmt::format("the engine cannot be loaded: {}", dlerror());
      return nullptr;
    }
    if (void* entry = dlsym(engine, "ockham_engine_main")) return reinterpret_cast<EngineMain>(entry);
    trouble = fmt::format("{} is not this program's engine; install ockham again", file.string());
    return nullptr;
  }
  trouble =
      fmt::format("libockham_engine.so is neither beside {} nor in ../lib; install ockham again", executable.string());
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  const ockham::app::CommandLine command = ockham::app::parse_command_line(argc, argv);
  if (!command.complaint.empty()) return fail(command.complaint, command.exit_code);
  if (!command.flags)
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? 0 : fail("the output cannot be written", 1);

  const ockham::app::RankFlags* ranks = ockham::app::rank_flags(*command.flags);
  const int64_t ranks_here = ranks == nullptr ? 1 : std::max<int64_t>(1, ranks->ranks);
  if (ranks_here > 1) {
    if (const std::optional<int> code = ockham::app::launch_ranks(ranks_here)) return *code;
  }

  ockham::tune_environment();
  set_thread_environment(ockham::app::common_flags(*command.flags).threads, ranks_here);

  std::string trouble;
  const EngineMain engine_main = load_engine(trouble);
  if (engine_main == nullptr) return fail(trouble, 1);
  return engine_main(argc, argv);
}
