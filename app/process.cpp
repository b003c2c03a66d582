#include "app/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "ockham/base/error.h"

extern char** environ;

namespace ockham::app {
namespace {

std::mutex child_mutex;
pid_t running_child = 0;  // 0: none; it leads a group of its own

/// Waits for that, for half a second at most.
bool ends_soon(pid_t group) {
  for (int k = 0; k < 50; ++k) {
    if (::kill(-group, 0) != 0) return true;
    ::usleep(10000);
  }
  return false;
}

}  // namespace

ProcessOutcome run_process(const std::vector<std::string>& command, const std::string& directory) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorKind::failure, fmt::format("{} cannot be started: {}", command[0], std::strerror(errno)));
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a new group: Ctrl-C reaches it by `end_processes`
  pid_t child = 0;
  int trouble = 0;
  {
    const std::lock_guard<std::mutex> lock(child_mutex);
    trouble = ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
    if (trouble == 0) running_child = child;
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);

  ProcessOutcome outcome;
  if (trouble == 0) {
    char buffer[4096];
    for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR);)
      if (count > 0) outcome.errors.append(buffer, static_cast<size_t>(count));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const std::lock_guard<std::mutex> lock(child_mutex);
    running_child = 0;
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  } else {
    outcome.exit_code = 127;
    outcome.errors = std::strerror(trouble);
  }
  ::close(ends[0]);
  return outcome;
}

void end_processes() {
  child_mutex.lock();  // for good
  if (running_child == 0) return;
  for (const int signal : {SIGTERM, SIGKILL}) {
    ::kill(-running_child, signal);
    if (ends_soon(running_child)) return;
  }
}

}  // namespace ockham::app
