// Ctrl-C and the polite kill: noted, and looked at between epochs.
#pragma once

namespace ockham::app {

/// While it lives, SIGINT and SIGTERM only set a flag; a second one ends the process at once.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool interrupted() const;
};

/// What a process returns that wrote a checkpoint and ended.
inline constexpr int exit_interrupted = 130;

}  // namespace ockham::app
