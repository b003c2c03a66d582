#include "app/launch_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "app/say.h"
#include "ockham/base/cpu.h"

namespace ockham::app {
namespace {

constexpr int kPeerLost = 5, kInterrupted = 130;
constexpr double kGrace = 10;       // seconds for a checkpoint, once a rank has said that another is lost
constexpr int64_t kMostPerCpu = 8;  // processes
constexpr int kPollMicroseconds = 20000;
constexpr int kHandedOn[] = {SIGINT, SIGTERM, SIGHUP};

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Child {
  pid_t process = -1;
  bool running = true;
  bool hung = false;  // and was killed here
  bool stopped = false;
  int status = 0;

  bool was_killed() const { return !running && WIFSIGNALED(status); }
  bool was_interrupted(int signal) const { return was_killed() && WTERMSIG(status) == signal; }
  int code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : kPeerLost; }
};

// The handler of the parent reads and writes these.
std::vector<Child> children;
volatile sig_atomic_t handed_on_signal = 0;

void hand_on(int signal) {
  if (signal != SIGKILL) handed_on_signal = signal;
  for (const Child& child : children)
    if (child.running) ::kill(child.process, signal);
}

std::string make_directory() {
  const char* base = std::getenv("TMPDIR");
  std::string path = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/ockham-ranks-XXXXXX";
  return ::mkdtemp(path.data()) == nullptr ? std::string() : path;
}

void become_rank(int64_t rank, int64_t ranks, const std::string& file, pid_t parent) {
  const pid_t first = rank == 0 ? ::getpid() : children.front().process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before that
  ::setpgid(0, 0);                        // a Ctrl-C reaches the parent only, which hands it on once
  for (const int signal : kHandedOn) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  setenv("OCKHAM_RANKS_FILE", file.c_str(), 1);
  setenv("OCKHAM_RANK_0", std::to_string(first).c_str(), 1);
  if (rank == 0) return;
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, 1);
}

/// Whether it goes on. A stopped process does.
bool is_running(Child& child) {
  int status = 0;
  const pid_t result = ::waitpid(child.process, &status, WNOHANG | WUNTRACED | WCONTINUED);
  if (result == 0 || (result < 0 && errno == EINTR)) return true;
  if (result > 0 && (WIFSTOPPED(status) || WIFCONTINUED(status))) {
    child.stopped = WIFSTOPPED(status);
    return true;
  }
  child.status = status;
  return false;
}

/// Waits for all, and ends those that hang. A rank that was killed or stopped is the others' business: they notice it
/// by themselves, or go on without it. Nobody notices one that is stopped when the others have ended.
void watch_over() {
  double patience = 0;  // until when; 0: there is no end of it
  for (;;) {
    bool running = false, all_stopped = true;
    for (Child& child : children) {
      if (!child.running) continue;
      if (is_running(child)) {
        running = true;
        all_stopped = all_stopped && child.stopped;
        continue;
      }
      child.running = false;
      // When rank 0 is done, so is the run; the others have nothing to do any more.
      const bool done = &child == &children.front() && child.code() == 0 && !child.was_killed();
      const bool failed = !child.was_killed() && child.code() != 0;
      if ((done || failed) && patience == 0) patience = now_in_seconds() + kGrace;
    }
    if (!running) return;
    if (all_stopped && patience == 0) patience = now_in_seconds() + kGrace;
    if (patience > 0 && now_in_seconds() > patience) {
      for (Child& child : children) child.hung = child.hung || child.running;
      hand_on(SIGKILL);
    }
    ::usleep(kPollMicroseconds);
  }
}

int exit_code_of_all() {
  const Child& first = children.front();
  if (handed_on_signal != 0 && first.was_interrupted(handed_on_signal)) return kInterrupted;
  if (!first.was_killed() && first.code() == 0) return 0;
  int worst = first.code();
  for (const Child& child : children) {
    if (child.was_killed() || child.code() == 0) continue;
    if (child.code() == kInterrupted) return kInterrupted;
    if (worst == kPeerLost) worst = child.code();  // what went wrong by itself is the reason
  }
  return worst;
}

void say_who_was_lost(int exit_code) {
  const char* what_follows = "";
  if (exit_code == 0) what_follows = "; the others took over its work, and the result is complete";
  if (exit_code == kPeerLost)
    what_follows = "; a fit goes on from what was saved with --resume, or is begun again where nothing was";
  for (size_t rank = 0; rank < children.size(); ++rank) {
    const Child& child = children[rank];
    if (!child.was_killed() || child.was_interrupted(handed_on_signal)) continue;
    const int signal = WTERMSIG(child.status);
    say(fmt::format("ockham: rank {} {} signal {} ({}){}\n", rank,
                    child.hung ? "hung and was ended by" : "was ended by", signal, ::strsignal(signal), what_follows));
  }
}

}  // namespace

std::optional<int> launch_ranks(int64_t ranks) {
  if (const int64_t most = kMostPerCpu * available_cpus(); ranks > most) {
    fmt::print(
        stderr,
        "ockham: --ranks: {} processes on {} CPUs would only wait for each other; give at most {}, or use several "
        "machines (docs/scaling.md)\n",
        ranks, available_cpus(), most);
    return 2;
  }
  const std::string directory = make_directory();
  if (directory.empty()) {
    say(fmt::format("ockham: --ranks: a temporary directory cannot be made: {}; set TMPDIR\n", std::strerror(errno)));
    return 1;
  }
  const pid_t parent = ::getpid();
  // No signal between a fork and the list that the handler reads.
  sigset_t handed_on, before;
  sigemptyset(&handed_on);
  for (const int signal : kHandedOn) sigaddset(&handed_on, signal);
  ::sigprocmask(SIG_BLOCK, &handed_on, &before);
  children.reserve(static_cast<size_t>(ranks));
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const pid_t process = ::fork();
    if (process == 0) {
      become_rank(rank, ranks, directory + "/store", parent);
      return std::nullopt;
    }
    if (process < 0) {
      say(fmt::format("ockham: --ranks: process {} of {} cannot be started: {}\n", rank + 1, ranks,
                      std::strerror(errno)));
      hand_on(SIGKILL);
      return 1;
    }
    children.push_back({process});
  }
  for (const int signal : kHandedOn) ::signal(signal, hand_on);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  watch_over();
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  const int exit_code = exit_code_of_all();
  say_who_was_lost(exit_code);
  return exit_code;
}

}  // namespace ockham::app
