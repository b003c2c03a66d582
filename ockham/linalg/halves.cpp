#include "ockham/linalg/halves.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "ockham/base/platform.h"

namespace ockham {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{3};  // longer than the gaps between phases in an epoch of a small network
constexpr int kLooksAtOnce = 64;                   // between two questions to the clock and to the scheduler

/// Tells the processor that this is a loop that waits.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits for a condition for a while, without sleeping; false when it did not come.
template <class Condition>
bool await(const Condition& condition) {
  const auto give_up = Clock::now() + kPatience;
  while (true) {
    for (int i = 0; i < kLooksAtOnce; ++i) {
      if (condition()) return true;
      pause_processor();
    }
    if (Clock::now() > give_up) return false;
    std::this_thread::yield();
  }
}

/// What the two threads share. The companion may outlive the call: it touches the phases only after it has claimed a
/// half, and then the call waits for it.
struct SharedWork {
  explicit SharedWork(const std::vector<Phase>& given) : phases(given), claimed(given.size()) {}
  const std::vector<Phase>& phases;
  std::vector<std::atomic<bool>> claimed;  // second halves
  std::atomic<size_t> open{0};             // phases that may be worked on
  std::atomic<size_t> finished{0};         // the last phase whose second half the companion has done, from 1

  bool claim(size_t phase) { return !claimed[phase].exchange(true); }

  void do_second_halves() {
    for (size_t i = 0; i < claimed.size(); ++i) {
      if (!await([&] { return open > i; })) return;
      if (!claim(i)) continue;
      phases[i](1);
      finished = i + 1;
    }
  }
};

/// The second thread of the process. Never destroyed: it may be at work when the program ends.
class Companion {
 public:
  static Companion& instance() {
    static auto* companion = new Companion;
    return *companion;
  }

  /// Hands work over; nothing happens when there is no second thread.
  void post(const std::shared_ptr<SharedWork>& work) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!started_) return;
      work_ = work;
      posted_.store(posted_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      if (!asleep_) return;
    }
    wake_.notify_one();
  }

 private:
  Companion() {
    try {
      std::thread([this] { run(); }).detach();
      started_ = true;
    } catch (const std::system_error&) {  // no more threads: callers do both halves
    }
  }

  void run() {
    for (uint64_t seen = 0;;) {
      const auto news = [&] { return posted_.load(std::memory_order_acquire) != seen; };
      const bool came = await(news);
      std::shared_ptr<SharedWork> work;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        if (!came) {
          asleep_ = true;
          wake_.wait(lock, news);
          asleep_ = false;
        }
        seen = posted_;
        work.swap(work_);
      }
      if (work) work->do_second_halves();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<SharedWork> work_;  // the latest; what came before and was not begun is done by its caller
  std::atomic<uint64_t> posted_{0};
  bool asleep_ = false, started_ = false;
};

}  // namespace

TriangleHalves::TriangleHalves(int64_t n) : top((n / 2 + 4) / 8 * 8), bottom(n - top), middle(0) {
  // top² + 2 middle top = bottom² + 2 (bottom - middle) top
  if (top > 0)
    middle = std::clamp<int64_t>((bottom * bottom - top * top + 2 * bottom * top) / (4 * top) / 8 * 8, 0, bottom);
}

void run_in_halves(const std::vector<Phase>& phases) {
  const auto work = std::make_shared<SharedWork>(phases);
  if (allowed_threads() > 1) Companion::instance().post(work);
  for (size_t i = 0; i < phases.size(); ++i) {
    work->open = i + 1;
    phases[i](0);
    if (work->claim(i)) {
      phases[i](1);
    } else {
      while (work->finished <= i) pause_processor();
    }
  }
}

}  // namespace ockham
