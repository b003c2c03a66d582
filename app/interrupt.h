// Ctrl-C, the polite kill and the closed terminal (SIGINT, SIGTERM, SIGHUP): answered at any moment within two seconds.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace ockham::app {

/// From now on these signals end the process at once, as they do by default, but no temporary file stays behind.
void end_cleanly_on_signals();

/// While it lives, a signal ends the process as `end_cleanly_on_signals` says, but after `clean_up`, which runs on a
/// thread and may do what a signal handler may not; after 1.5 s nobody waits for it. The work goes on meanwhile, up to
/// the end of this object. One at a time.
class CleanUpOnSignal {
 public:
  explicit CleanUpOnSignal(std::function<void()> clean_up);
  ~CleanUpOnSignal();
  CleanUpOnSignal(const CleanUpOnSignal&) = delete;
  CleanUpOnSignal& operator=(const CleanUpOnSignal&) = delete;

 private:
  std::thread cleaner_;
};

/// While it lives, a signal only sets a flag, at which the work looks where it can save itself. When nobody looks for
/// 0.9 s, e.g. within a large decomposition, or saving takes longer than until 1.5 s after the signal, the process says
/// its farewell and ends with `exit_interrupted`: files are whole at any moment, so that no more than the time since
/// the last checkpoint is lost. A second signal ends it at once.
class InterruptWatch {
 public:
  /// One line for stderr: how to go on. Empty: another process says it.
  explicit InterruptWatch(const std::string& farewell);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  /// Whoever asks and hears of a signal has some more time to save itself.
  bool interrupted() const;
  /// From here on there is nothing to save: a signal, also one that came before, ends the process without delay.
  void stop_waiting() const;
  /// Says the farewell, once, and returns `exit_interrupted`.
  int say_farewell() const;
};

/// What a process returns that was interrupted and can go on.
inline constexpr int exit_interrupted = 130;

}  // namespace ockham::app
