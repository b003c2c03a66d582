#include "app/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/durations.h"
#include "app/say.h"

namespace ockham::app {
namespace {

constexpr double kTerminalSeconds = 0.2, kPlainSeconds = 30;  // from one showing to the next
constexpr double kStillSeconds = 1;                           // that a line may stand without a sign of life

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

size_t terminal_width() {
  winsize size{};
  return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(isatty(2) == 1) {
  if (terminal_ && !quiet_) alive_ = std::thread([this] { keep_alive(); });
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    erase();
  }
  stop_.notify_all();
  if (alive_.joinable()) alive_.join();
}

bool ProgressLine::due() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !quiet_ && seconds_since(shown_) >= (terminal_ ? kTerminalSeconds : kPlainSeconds);
}

void ProgressLine::show(const std::string& text) {
  const bool now = due();
  const std::lock_guard<std::mutex> lock(mutex_);
  text_ = text;
  set_ = Clock::now();
  if (!now) return;
  if (terminal_) {
    draw(text);
  } else {
    say(text + "\n");
    shown_ = Clock::now();
  }
}

void ProgressLine::print(const std::string& line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  text_.clear();
  erase();
  if (quiet_) return;
  say(line + "\n");
  shown_ = Clock::now();
}

void ProgressLine::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  text_.clear();
  erase();
}

void ProgressLine::draw(const std::string& text) {
  say(fmt::format("\r\033[K{}", text.substr(0, terminal_width() - 1)));
  std::fflush(stderr);
  line_open_ = true;
  shown_ = Clock::now();
}

void ProgressLine::erase() {
  if (line_open_) say("\r\033[K");
  line_open_ = false;
}

void ProgressLine::keep_alive() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    stop_.wait_for(lock, std::chrono::milliseconds(250));
    if (stopping_ || text_.empty() || seconds_since(shown_) < kStillSeconds) continue;
    // The time comes at the end of the line, whatever must be cut for it.
    const std::string time = fmt::format(" ({:.0f} s)", seconds_since(set_));
    draw(text_.substr(0, terminal_width() - 1 - time.size()) + time);
  }
}

std::function<void(int64_t)> count_examples(ProgressLine& line, std::string step, int64_t total) {
  return [&line, step = std::move(step), total](int64_t done) {
    if (line.due())
      line.show(fmt::format("{} {:.0f} %", step, 100.0 * static_cast<double>(done) / static_cast<double>(total)));
  };
}

}  // namespace ockham::app
