// One line on stderr that says what goes on: rewritten on a terminal, where it is never still for long; sparse lines
// elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace ockham::app {

/// Its functions may be called from any thread.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool terminal() const { return terminal_; }
  /// Whether `show` would show: a text that is dear to make need not be made before.
  bool due() const;
  /// What goes on now. On a terminal it appears at once or a little later, and with the seconds that it takes when
  /// nothing else comes; elsewhere when half a minute has passed since the last line.
  void show(const std::string& text);
  /// A line that stays, in place of what was shown.
  void print(const std::string& line);
  /// Takes the rewritten line away.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const std::string& text);  // with the lock held
  void erase();
  void keep_alive();

  const bool quiet_, terminal_;
  mutable std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false, line_open_ = false;
  std::string text_;  // empty: nothing goes on
  Clock::time_point set_, shown_ = Clock::now();
  std::thread alive_;  // of a terminal
};

/// Shows "STEP 43 %" for a count of examples out of `total`. The line must live as long.
std::function<void(int64_t)> count_examples(ProgressLine& line, std::string step, int64_t total);

}  // namespace ockham::app
